package search

// form sets how an index is divided and how much of it is read at once. The
// stored bytes depend on sizes, fanout, shard and chunk.
var form = struct {
	sizes    [3]int // posts of a segment of each level
	fanout   int    // segments that are merged into one of the next level
	merged   int    // most bytes of words in segments merged into one of the last level
	shard    int    // target bytes of a shard
	chunk    int    // IDs of a chunk
	recent   int    // heads that one call lists
	batch    int    // most parts that a search reads first
	late     int    // most late posts that a page reads
	units    int    // 4 KB units of heads and shards that a page reads
	promises int    // a search first reads segments of this many posts, or more
}{
	sizes:    [3]int{16, 256, 4096},
	fanout:   16,
	merged:   4 << 20, // 1 KB a post, several times what long posts need
	shard:    3900,    // with its keys and names an item of 4 KB: one read unit
	chunk:    256,     // some 3 KB of IDs
	recent:   128,     // the newest 350 000 posts, about
	batch:    100,     // one call of the table
	late:     5,       // a post and its counters are 1.5 read units
	units:    48,      // 24 read units; a page takes about 30 in all
	promises: 4096,
}
