// Package search finds posts by their words, with an index that costs less than
// a write unit per post. It does not know the table: it reads and writes
// through [Store] and [Shelf].
//
// Like a log-structured search engine it writes nothing when a post is made.
// The newest posts, the tail, are searched by reading them. Once 16 of them are
// ten seconds old they are sealed into a [Segment]: an index of the posts in a
// range of IDs. 16 segments are merged into one of 256 posts, which in a busy
// channel are sealed at once, and 16 of these into one of 4096 unless they have
// too many words; the smaller ones are then removed ([Tend]). A post that
// arrives in a sealed range is late: it is listed, and searched by reading it,
// until a segment includes it.
//
// A segment is stored as:
//
//   - a head ([Head]): which IDs it covers and where its parts are cut; a small
//     segment is stored in its head alone. Heads are listed in the order of
//     [Name.String];
//   - shards of 4 KB: the words in order, front-coded, each with the posts
//     that have it, as numbers from the oldest post, 0, up;
//   - chunks of 256 IDs: the posts that the numbers stand for.
//
// A [Search] lists the heads. From each segment, as far back as necessary, it
// reads the shards that can hold its words, then the IDs and the posts of the
// newest hits: at most six round trips, whatever the number of posts. Of heads
// and shards it reads some 200 KB at most, and of a channel's tail 48 posts,
// whatever the rate of posts. If there are more, the page ends there, and the next
// one goes on. A search that has found nothing goes on by itself, within a [Budget].
//
// Every write is independent. That is safe because a segment is a pure function
// of its posts and is named by a digest of them, so a repeated write, or
// another segment for the same range, does no harm. A segment is searched only
// once it is complete, and a replaced one is kept for a while for current
// readers. The ranges alone determine which segments are read.
package search
