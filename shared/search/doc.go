// Package search finds posts by their words, with an index that costs less than
// a write unit per post. It does not know the table: it reads and writes
// through [Store] and [Shelf].
//
// It works like a log-structured search engine, and writes nothing when a post is made. A
// search reads the newest posts, called the tail, one by one. [Tend] seals 16 posts of
// the tail, or 256, into a [Segment] once they are ten seconds old. A segment is an index
// of the posts in a range of IDs. Tend merges 16 segments into one of 256 posts, and 16
// of those into one of 4096. A post is late if it arrives in a range that is already
// sealed. A search reads each late post until a segment includes it.
//
// A segment is stored as:
//
//   - a head ([Head]): which IDs it covers and where its parts are cut; a small
//     segment is stored in its head alone;
//   - shards of 4 KB: the words in order, front-coded, each with the numbers
//     of the posts that have it, where 0 is the oldest post;
//   - chunks of 256 IDs, in the order of the numbers.
//
// A [Search] lists the heads, and reads the shards that can hold the words of the query. It
// then reads the IDs and the posts of the newest hits. A page takes at most six round trips.
// It reads at most some 200 KB of heads and shards, and 48 posts of a channel's tail. If
// there is more to read, the next page continues. A search that has found nothing continues
// by itself, within a [Budget].
//
// No write needs a transaction. A segment is a pure function of its posts, and its name has
// a digest of them, so a repeated write does no harm. A search uses only complete segments,
// and chooses among those that overlap. A replaced segment is kept for a while, for
// searches that have listed it.
package search
