// Package search finds posts by their words, with an index that costs less than
// a write unit per post. It does not know the table: it reads and writes
// through [Store] and [Shelf].
//
// Like a log-structured search engine, it writes nothing when a post is made. The newest
// posts are called the tail, and are searched by reading them. Once 16 posts of the tail
// are ten seconds old, they are sealed into a [Segment]: an index of the posts in a range
// of IDs. 16 such segments are merged into one of 256 posts. In a busy channel, 256 posts
// are sealed at once. 16 segments of 256 posts are merged into one of 4096, unless they
// have too many words. The segments that were merged are removed ([Tend]). A post that
// arrives in a range that is already sealed is late: its ID is listed, and the post is
// searched by reading it until a segment includes it.
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
// A [Search] lists the heads. From each segment, as far back as necessary, it reads the
// shards that can hold the words of the query, then the IDs and the posts of the newest
// hits. That takes at most six round trips for a page, whatever the number of posts. A page
// reads at most some 200 KB of heads and shards, and 48 posts of a channel's tail, whatever
// the rate of posts. If there is more to read, the page ends there, and the next one
// continues. A search that has found nothing continues by itself, within a [Budget].
//
// Every write is independent. That is safe because a segment is a pure function of its
// posts and is named by a digest of them, so a repeated write does no harm. Another
// segment for the same range does no harm either, since a search chooses among
// overlapping segments. A segment is searched only once it is complete. A replaced
// segment is kept for a while for searches that have listed it.
package search
