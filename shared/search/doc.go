// Package search finds posts by their words, with an index that costs less than
// a write unit a post. It knows no table: what it reads and writes goes
// through [Store] and [Shelf], made for one partition of one.
//
// Like a log-structured search engine it writes nothing when a post is made. The
// newest posts, the tail, are searched by reading them. Once 16 of them are a
// minute old they are sealed: a [Segment] is an index of the posts in a range of
// IDs. 16 segments become one of 256 posts, 16 of these one of 4096 unless their words are
// too many, and the smaller ones are removed ([Tend]). Posts that arrive in a range that is sealed
// already are late: they are listed, and searched by reading them, until a
// segment has them.
//
// A segment is stored as:
//
//   - a head ([Head]): which IDs it covers, where its parts are cut, or all of
//     it, if it is small. Listed in the order of [Name.String];
//   - shards of 4 KB: the words in order, front-coded, each with the posts
//     that have it, as numbers from the oldest post, 0, up;
//   - chunks of 256 IDs: which posts these are.
//
// So a [Search] lists the heads, reads of each segment the shards in which its
// words can be, as far back as it must, then the IDs and the posts of the newest
// hits: at most six round trips, whatever the number of posts.
//
// Every write stands by itself. What makes that safe: a segment is a pure
// function of its posts and named by a digest of them, so that writing it again,
// or another for the same range, spoils nothing; it is searched only once it
// is whole; and what it replaces is left for the readers under way, for a minute.
// Which of all segments are read then follows from their ranges alone.
package search
