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

// Level is how large a segment is.
type Level uint8

// Size is about how many posts a segment of this level holds: late ones add to
// it, deleted ones are missing.
func (l Level) Size() int { return form.sizes[l] }

// Top is the last level.
const Top = Level(len(form.sizes) - 1)

// MaxPosts is how many posts a segment can hold.
const MaxPosts = 1 << 16

// Name tells a segment from all others: by its level, by the ID after which it
// begins, and by what it holds. The same posts always have the same name, and
// other posts another: so writing a segment again does no harm, whoever wrote
// which parts of it before, and what was written is never changed.
type Name struct {
	Level  Level
	After  ID
	Digest [6]byte
}

// String is 41 characters; names sort by After first. They hold digits, small
// letters and "#".
func (n Name) String() string {
	return fmt.Sprintf("%s#%d#%s", n.After, n.Level, hex.EncodeToString(n.Digest[:]))
}

// Part names one of the pieces a segment is read in.
type Part struct {
	Segment Name
	Kind    PartKind
	Number  int
}

// PartKind is what a part holds.
type PartKind byte

// Kinds of parts.
const (
	Shard PartKind = 'w' // a range of the words, and which posts have them
	Chunk PartKind = 'i' // some of the IDs
)

// String is the segment's name, the kind and the number.
func (p Part) String() string { return fmt.Sprintf("%s#%c%04d", p.Segment, p.Kind, p.Number) }

// Segment is an index of the posts of a range, as it is stored: a head, which
// is read first, and the parts, of which a search reads few. A small one is
// its head alone.
type Segment struct {
	Head  *Head
	Parts map[Part][]byte
}

// Build makes the index of posts with After < ID <= To, unless ctx ends. It is a
// pure function of its arguments; their order does not matter, nor does a post that
// comes twice. It takes some 30 bytes of memory for each word of each post.
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

// assemble completes a head with what it says of the parts, and makes the parts.
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

// shardAll cuts sorted words into shards of the usual size, or of a larger one
// where there would be more than maxShards.
func shardAll(words []posting, posts int) []shard {
	for size := form.shard; ; size *= 2 {
		if shards := shardBy(size, words, posts); len(shards) <= maxShards {
			return shards
		}
	}
}
