package search

import (
	"context"
	"time"
)

// Store reads a channel's posts and index. Each method takes one round trip, or several
// concurrent ones, unless it says otherwise.
//
// Tail, Posts and Late read strongly: they return all that was acknowledged before the
// call, or what the process remembers (tables/recent). Parts and Heads may be some seconds
// old, at half the price. With fresh set, Heads reads strongly.
type Store[P any] interface {
	// Heads returns the heads of segments with After < before, highest name
	// first. most bounds their number.
	Heads(ctx context.Context, before ID, most int, fresh bool) ([]Listed, error)

	// Late returns the IDs of late posts, see [IsLate].
	Late(ctx context.Context) ([]ID, error)

	// Tail returns the newest existing posts with after < ID < before, newest
	// first. It reads at least [TailFirst] posts, and more if they are short. If it
	// leaves out some, no post from t.Down to the newest is missing. It takes one
	// round trip for up to TailFirst posts, else one or two.
	Tail(ctx context.Context, after, before ID) (t Tail[P], err error)

	// Parts returns parts as written, and nil for missing ones.
	Parts(ctx context.Context, parts []Part) ([][]byte, error)

	// Posts returns the existing posts of the IDs, in any order.
	Posts(ctx context.Context, ids []ID) ([]Post[P], error)
}

// TailFirst is the number of posts of a tail that a store reads in its first trip. In a
// quiet channel, more posts seldom wait to be sealed.
const TailFirst = 24

// Tail holds the newest posts of a channel.
type Tail[P any] struct {
	Posts []Post[P]
	Down  ID // if there are more posts: the oldest that was read, even if it is deleted
	Trips int
}

// Post is a post that is not deleted, and what the store adds to it.
type Post[P any] struct {
	Doc
	Value P
}

// Shelf stores a channel's index for [Tend]. Each write is independent and may be
// repeated. Heads and Late may be some seconds old.
type Shelf interface {
	Heads(ctx context.Context, before ID, most int, fresh bool) ([]Listed, error)
	Late(ctx context.Context) ([]ID, error)
	Parts(ctx context.Context, parts []Part) ([][]byte, error)

	// Range returns posts with after < ID <= to, oldest first, deleted ones
	// included. most bounds their number, unless it is 0. Range reads strongly.
	Range(ctx context.Context, after, to ID, most int) ([]Entry, error)

	// Announce puts a head that is not live yet. It does nothing if a live head has
	// the same name.
	Announce(ctx context.Context, h *Head, now time.Time) error
	// PutParts writes parts, whether or not they exist.
	PutParts(ctx context.Context, parts map[Part][]byte) error
	// Publish makes a head live, if it is not. A head with parts must have been
	// announced and still exist.
	Publish(ctx context.Context, h *Head, now time.Time) error
	// Retire marks a live head as not live. It does nothing if the head is gone.
	Retire(ctx context.Context, n Name) error
	// RemoveParts and RemoveHead do nothing for missing items.
	RemoveParts(ctx context.Context, parts []Part) error
	RemoveHead(ctx context.Context, n Name) error
	// RemoveLate removes late posts from the list.
	RemoveLate(ctx context.Context, ids []ID) error
}

// Entry is a post from [Shelf]. A deleted one has no text.
type Entry struct {
	Doc
	Deleted bool
}

// Listed is a head in the store.
type Listed struct {
	*Head
	Live bool      // all of its parts exist
	At   time.Time // when it first became live, or was announced
}

const (
	// sealAge is the age at which a post is sealed. By then every post with a
	// lower ID has arrived, except late ones.
	sealAge = 10 * time.Second
	// lateAge is the time between an ID and its commit that makes a post late. A commit
	// usually takes less. sealAge - lateAge is larger than the differences of clocks and
	// the errors of the stream's times.
	lateAge = sealAge / 2
	// grace bounds the time in which a search uses the heads that it has listed.
	grace = 15 * time.Second
	// abandoned is the age at which an announced head will no longer become
	// live: longer than any Lambda function runs.
	abandoned = time.Hour
)
