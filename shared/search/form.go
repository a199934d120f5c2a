package search

// form is how an index is cut and how much of it is read at once. What is
// stored depends on sizes, fanout, shard and chunk. Tests make all of it
// smaller, to see in a hundred posts what else takes a hundred thousand.
var form = struct {
	sizes    [3]int // posts of a segment of each level
	fanout   int    // segments that become one of the next level
	merged   int    // bytes of the words of segments that become one of the last level, at most
	shard    int    // bytes of a shard, if it can be
	chunk    int    // IDs of a chunk
	recent   int    // heads that are listed
	batch    int    // parts that a search reads first, at most, and late posts
	units    int    // shards that one trip reads, as units of 4 KB
	promises int    // posts that a search looks at first, at least
}{
	sizes:    [3]int{16, 256, 4096},
	fanout:   16,
	merged:   4 << 20, // 1 KB a post, several times what long posts need
	shard:    3900,    // with its keys and names an item of 4 KB: one read unit
	chunk:    256,     // some 3 KB
	recent:   128,     // the newest 350 000 posts, and more if nothing waits to be merged
	batch:    100,     // one call of the table
	units:    600,
	promises: 4096,
}
