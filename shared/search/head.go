package search

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Head tells a search where a segment's words and IDs are. The head of a small
// segment holds them itself.
type Head struct {
	Name
	To    ID  // the segment covers After < ID <= To
	Posts int // posts in it
	Size  int // bytes of its shards

	splits []string // where each shard except the first begins
	chunks []ID     // the first ID of each chunk

	whole bool   // no parts: the head holds the words and IDs
	words []byte // as in a shard's body
	ids   []ID
}

// ShardsFor returns the range [from, to) of the shards that can hold words that begin
// with a term. It is empty for a segment without parts.
func (h *Head) ShardsFor(t Term) (from, to int) {
	if h.whole {
		return 0, 0
	}
	return shards(h.splits, t)
}

// shardCount returns the number of parts that hold words.
func (h *Head) shardCount() int {
	if h.whole {
		return 0
	}
	return len(h.splits) + 1
}

// bytes returns the size of the words.
func (h *Head) bytes() int {
	if h.whole {
		return len(h.words)
	}
	return h.Size
}

// weight returns the approximate size of the head as it is stored.
func (h *Head) weight() int {
	const names, id, split = 200, 12, 8 // bytes
	return names + id*(len(h.ids)+len(h.chunks)) + split*len(h.splits) + len(h.words)
}

// Parts returns all pieces besides the head: shards, then chunks.
func (h *Head) Parts() []Part {
	var parts []Part
	for i := range h.shardCount() {
		parts = append(parts, Part{h.Name, Shard, i})
	}
	for i := range h.chunks {
		parts = append(parts, Part{h.Name, Chunk, i})
	}
	return parts
}

// Encode returns the bytes that [DecodeHead] reads.
func (h *Head) Encode() []byte {
	b := []byte{byte(h.Level)}
	b = append(b, h.After[:]...)
	b = append(b, h.To[:]...)
	b = append(b, h.Digest[:]...)
	b = binary.AppendUvarint(b, uint64(h.Posts))
	if h.whole {
		b = append(b, 1)
		b = appendIDs(b, h.ids)
		return seal(kindHead, append(b, h.words...))
	}
	b = append(b, 0)
	b = binary.AppendUvarint(b, uint64(h.Size))
	b = appendIDs(b, h.chunks)
	last := ""
	for _, s := range h.splits {
		b = appendWord(b, last, s)
		last = s
	}
	return seal(kindHead, b)
}

// DecodeHead decodes a head. It fails with [ErrCorrupt] if b is not a head.
func DecodeHead(b []byte) (*Head, error) {
	body, err := unseal(kindHead, b)
	if err != nil {
		return nil, err
	}
	return readHead(body)
}

func readHead(body []byte) (*Head, error) {
	r := reader{b: body}
	h := &Head{Name: Name{Level: Level(r.byte()), After: r.id()}, To: r.id()}
	copy(h.Digest[:], r.take(len(h.Digest)))
	h.Posts = int(r.uint(MaxPosts))
	r.check(h.Level <= Top && h.After.Less(h.To))
	switch r.byte() {
	case 1:
		h.whole = true
		h.ids = r.ids(h.Posts, h.After, h.To)
		h.words, r.b = r.b, nil
		r.check(h.Posts <= form.chunk && scan(h.words, h.Posts, "", func(int) {}) == nil)
	case 0:
		h.Size = int(r.uint(1 << 40))
		h.chunks = r.ids((h.Posts+form.chunk-1)/form.chunk, h.After, h.To)
		var last []byte
		for len(r.b) > 0 {
			last = r.word(last)
			h.splits = append(h.splits, string(last))
		}
		r.check(len(h.splits) < maxShards)
	default:
		r.fail()
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return h, nil
}

func (h *Head) chunk(c int, b []byte) ([]ID, error) {
	body, err := unseal(kindIDs, b)
	if err != nil {
		return nil, fmt.Errorf("chunk %d of %s: %w", c, h.Name, err)
	}
	r := reader{b: body}
	ids := r.ids(min(form.chunk, h.Posts-c*form.chunk), h.After, h.To)
	r.check(len(ids) > 0 && ids[0] == h.chunks[c])
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("chunk %d of %s: %w", c, h.Name, err)
	}
	return ids, nil
}

// chunkFor returns the chunk that would hold an ID, or -1 if the ID is before all chunks.
func (h *Head) chunkFor(id ID) int {
	i, found := slices.BinarySearchFunc(h.chunks, id, ID.Compare)
	if found {
		return i
	}
	return i - 1
}
