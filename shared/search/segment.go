package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
)

// Doc is a post as the index sees it.
type Doc struct {
	ID   ID
	Text string
}

// Level is the size class of a segment.
type Level uint8

// Size returns the number of posts in a segment of this level, before late posts are added
// and deleted ones left out.
func (l Level) Size() int { return form.sizes[l] }

// Top is the highest level.
const Top = Level(len(form.sizes) - 1)

// MaxPosts bounds the posts of a segment.
const MaxPosts = 1 << 16

// Name identifies a segment. Because of the digest of its content, a repeated write does no
// harm, and written bytes never change.
type Name struct {
	Level  Level
	After  ID
	Digest [6]byte
}

// String returns 41 characters of digits, small letters and "#". Names sort by
// After first.
func (n Name) String() string {
	return fmt.Sprintf("%s#%d#%s", n.After, n.Level, hex.EncodeToString(n.Digest[:]))
}

// Part names one of the pieces of a segment.
type Part struct {
	Segment Name
	Kind    PartKind
	Number  int
}

// PartKind is the kind of content of a part.
type PartKind byte

// Kinds of parts.
const (
	Shard PartKind = 'w' // a range of the words, and which posts have them
	Chunk PartKind = 'i' // some of the IDs
)

// String returns the segment's name, the kind and the number.
func (p Part) String() string { return fmt.Sprintf("%s#%c%04d", p.Segment, p.Kind, p.Number) }

// Segment is a stored index of the posts in a range: a head and parts. A small segment has
// only its head.
type Segment struct {
	Head  *Head
	Parts map[Part][]byte
}

// Build makes the index of posts with after < ID <= to. Neither the order of docs nor
// duplicates matter. Build fails when ctx ends. It takes about 30 bytes of memory for
// each word of each post.
func Build(ctx context.Context, level Level, after, to ID, docs []Doc) (*Segment, error) {
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b Doc) int { return a.ID.Compare(b.ID) })
	docs = slices.CompactFunc(docs, func(a, b Doc) bool { return a.ID == b.ID })
	if n := len(docs); n > MaxPosts {
		return nil, fmt.Errorf("search: %d posts in one segment, at most %d fit", n, MaxPosts)
	}
	h := &Head{Name: Name{Level: level, After: after}, To: to, Posts: len(docs)}
	var words []posting
	ids := make([]ID, len(docs))
	for i, d := range docs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !after.Less(d.ID) || to.Less(d.ID) {
			return nil, fmt.Errorf("search: the post %s lies outside of its segment", d.ID)
		}
		ids[i] = d.ID
		for _, w := range Words(d.Text) {
			words = append(words, posting{w, uint16(i)})
		}
	}
	slices.SortFunc(words, posting.compare)
	return h.assemble(ids, shardAll(words, len(docs))), nil
}

// assemble makes the parts and completes the head with their description.
func (h *Head) assemble(ids []ID, shards []shard) *Segment {
	s := &Segment{h, map[Part][]byte{}}
	digest := sha256.New()
	if len(shards) == 1 && len(ids) <= form.chunk {
		h.whole, h.ids, h.words = true, ids, shards[0].body
		digest.Write(h.Encode())
		copy(h.Name.Digest[:], digest.Sum(nil))
		return s
	}
	var bodies [][]byte
	for i, sh := range shards {
		bodies = append(bodies, seal(kindWords, sh.body))
		h.Size += len(bodies[i])
		if i > 0 {
			h.splits = append(h.splits, sh.from)
		}
	}
	for c := range slices.Chunk(ids, form.chunk) {
		h.chunks = append(h.chunks, c[0])
		bodies = append(bodies, seal(kindIDs, appendIDs(nil, c)))
	}
	digest.Write(h.Encode())
	for _, b := range bodies {
		digest.Write(b)
	}
	copy(h.Name.Digest[:], digest.Sum(nil))
	for i, p := range h.Parts() {
		s.Parts[p] = bodies[i]
	}
	return s
}

// shardAll cuts sorted words into shards of the usual size, or larger ones if
// there would be more than maxShards.
func shardAll(words []posting, posts int) []shard {
	for size := form.shard; ; size *= 2 {
		if shards := shardBy(size, words, posts); len(shards) <= maxShards {
			return shards
		}
	}
}
