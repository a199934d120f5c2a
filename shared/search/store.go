package search

import (
	"context"
	"time"
)

// Store is where a channel's posts and index are read from. Each method is one
// round trip, or several side by side. What it gives is at least as new as:
//
//   - Tail, Posts and Late: all that was acknowledged before the call. So a new
//     post is found at once, a deleted one never.
//   - Parts, and Heads unless fresh: some seconds old; half the price.
type Store[P any] interface {
	// Heads are those of segments with After < before, last name first, at
	// most so many.
	Heads(ctx context.Context, before ID, most int, fresh bool) ([]Listed, error)

	// Late are the IDs of late posts, see [IsLate].
	Late(ctx context.Context) ([]ID, error)

	// Tail is the posts with after < ID < before that stand, newest first, as
	// one page of about 1 MB. If there are more, down is where the page ends:
	// no post from down on is missing.
	Tail(ctx context.Context, after, before ID) (posts []Post[P], down ID, err error)

	// Parts are as they were written, nil where there is none.
	Parts(ctx context.Context, parts []Part) ([][]byte, error)

	// Posts are those of the IDs that stand, in any order.
	Posts(ctx context.Context, ids []ID) ([]Post[P], error)
}

// Post is what is found: a post that is not deleted, and whatever the store
// knows of it besides.
type Post[P any] struct {
	Doc
	Value P
}

// Shelf is where [Tend] keeps a channel's index.
//
// Each write stands by itself and may be made twice. Heads and Late may be some
// seconds old.
type Shelf interface {
	Heads(ctx context.Context, before ID, most int, fresh bool) ([]Listed, error)
	Late(ctx context.Context) ([]ID, error)
	Parts(ctx context.Context, parts []Part) ([][]byte, error)

	// Range is posts with after < ID <= to, oldest first, deleted ones
	// included: the first so many, or all if most is 0. It sees all that was
	// acknowledged before the call.
	Range(ctx context.Context, after, to ID, most int) ([]Entry, error)

	// Announce puts a head that is not live yet, as of now, unless a live one of
	// its name is there.
	Announce(ctx context.Context, h *Head, now time.Time) error
	// PutParts writes parts, whether or not they are there.
	PutParts(ctx context.Context, parts map[Part][]byte) error
	// Publish makes a head live, as of now, and does nothing if it is. One that
	// has parts must have been announced and still be there, else it fails; one
	// that has none is put.
	Publish(ctx context.Context, h *Head, now time.Time) error
	// Retire makes a live head one that is not, and does nothing if it is gone.
	Retire(ctx context.Context, n Name) error
	// RemoveParts and RemoveHead do nothing for what is gone.
	RemoveParts(ctx context.Context, parts []Part) error
	RemoveHead(ctx context.Context, n Name) error
	// RemoveLate forgets late posts.
	RemoveLate(ctx context.Context, ids []ID) error
}

// Entry is a post as [Shelf] gives it; a deleted one has no text.
type Entry struct {
	Doc
	Deleted bool
}

// Listed is a head as it stands in the store.
type Listed struct {
	*Head
	Live bool      // all of its parts are there
	At   time.Time // when it became live first, or was announced
}

const (
	// sealAge is how old a post is when it is sealed: no ID can still arrive
	// before it, save late ones.
	sealAge = time.Minute
	// lateAge after its ID was made, a post's commit may have come too late
	// for its segment. Less than sealAge by more than clocks differ.
	lateAge = sealAge / 2
	// grace is how long a reader may go on with what it listed.
	grace = time.Minute
	// abandoned is when a head that was announced will not become live any
	// more: longer than any function runs.
	abandoned = time.Hour
)
