package tables

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Backend is a table: conditional transactions, batched reads and range queries.
// tables/dynamo and tables/embedded implement it; tables/conformance tests both.
//
// All methods are safe for concurrent use and honour ctx. They report their cost to the
// [Usage] in ctx, if there is one. Each may also return ErrThrottled or ErrUnreachable. A
// backend makes each call once; tables/retry repeats calls.
type Backend interface {
	// Get reads 1-100 items in one round trip. items[i] belongs to keys[i]
	// and is nil if there is no such item; a key may occur twice. With a
	// *Throttled, items holds what was read, or is nil.
	Get(ctx context.Context, c Consistency, keys ...Key) (items []Item, err error)

	// Query reads one page of one partition, in the order of the sort key's UTF-8 bytes. A
	// page ends after q.Limit items or about 1 MB. Page.Next is nil if and only if the range
	// was read to its end. A page of q.Limit items always has a Next, even if no item
	// follows. Then the next page is empty.
	Query(ctx context.Context, q Query) (Page, error)

	// Commit makes all of tx's writes or none of them, serializably. A failed condition is a
	// *Cancelled. After ErrConflict nothing was written. After ErrUnknownOutcome the writes
	// may or may not have been made: Commit with the same Tx and Token, within ten minutes,
	// settles the outcome.
	Commit(ctx context.Context, tx Tx) error
}

type losableKey struct{}

// Losable returns a context for commits that a crash may lose. They have no Token. A
// backend may check the conditions, return, and write shortly afterwards. It drops the
// writes if a condition no longer holds by then.
func Losable(ctx context.Context) context.Context { return context.WithValue(ctx, losableKey{}, true) }

// IsLosable reports whether ctx comes from [Losable].
func IsLosable(ctx context.Context) bool { return ctx.Value(losableKey{}) != nil }

// Limits of a table, which are DynamoDB's. Exceeding one is an ErrInvalid.
const (
	MaxItemSize = 400 << 10 // bytes, names and values, as [Item.Size] counts
	MaxTxWrites = 100
	MaxTxSize   = 4 << 20 // bytes
	MaxGetKeys  = 100
	MaxPageSize = 1 << 20    // bytes; a page ends at about this size, without an error
	MaxPKSize   = 2048       // bytes
	MaxSKSize   = 1024       // bytes
	MaxNameSize = 64<<10 - 1 // bytes of an attribute's name, at any level
	MaxNesting  = 31         // maps and lists within each other; DynamoDB's 32nd level is for the values in the innermost
	// MaxConds and MaxUpdates keep the expressions of one write below DynamoDB's limits of
	// 300 operators and 4 KB.
	MaxConds   = 32 // conditions and updates by [Add] together
	MaxUpdates = 200
)

// Errors of a backend, for errors.Is.
var (
	ErrConflict  = errors.New("tables: another transaction touched the same items")
	ErrThrottled = errors.New("tables: throttled")
	// ErrUnreachable means that a read was not answered, or that a commit was not
	// sent: nothing was done.
	ErrUnreachable    = errors.New("tables: no answer")
	ErrUnknownOutcome = errors.New("tables: the answer to a commit was lost")
	// ErrOvertaken means that the items that the writes are based on have changed: nothing
	// was written.
	ErrOvertaken = errors.New("tables: overtaken by another write")
	// ErrInvalid means a programming error: an exceeded limit, an empty key, two writes for
	// one key, an update of a value of the wrong type, a sum that overflows int64, or a
	// Token reused with other writes.
	ErrInvalid = errors.New("tables: invalid request")
)

// Key is an item's primary key. Neither part is ever empty.
type Key struct{ PK, SK string }

// Consistency of a read.
type Consistency bool

const (
	Eventual Consistency = false // may be some milliseconds old; half the price
	Strong   Consistency = true  // sees every acknowledged commit
)

// Query selects the items of one partition whose sort key is in [From, To]. An empty
// From or To sets no bound. An index lacks items without its key attributes.
type Query struct {
	Index       Index  // the table itself if empty
	PK          string // partition: value of the table's or the index's partition key
	From, To    string
	After       *Position // exclusive start; need not exist or be within the range
	Desc        bool
	Limit       int // at most this many items; 0: as many as fit a page
	Consistency     // an index supports only Eventual: Strong with an Index is ErrInvalid

	// Only has the attributes to return; nil: all. The price is the same. With an Index it
	// is ErrInvalid.
	Only *Projection
}

// Projection is a set of attributes: pk, sk and some others.
type Projection struct{ names []string }

// Project returns the set of pk, sk and the named attributes.
func Project(names ...string) *Projection {
	return &Projection{NewSet(append([]string{AttrPK, AttrSK}, names...)...)}
}

// Names returns the names of the attributes, sorted. The caller must not change them.
func (p *Projection) Names() []string { return p.names }

// Position is a place in the order of a partition. In an index, the primary key
// distinguishes items with equal sort keys.
type Position struct {
	SK  string // sort key in the table or in the index
	Key Key    // the item's primary key; the zero Key when the table itself is queried
}

// Page is one page of a query's result. Items of an index have only the attributes that
// it projects ([Indexes]).
type Page struct {
	Items []Item
	Next  *Position
}

// Tx is a set of 1-100 writes to different items. With a Token (1-36 characters) it is
// idempotent for ten minutes: committed again, it does nothing and returns nil. A single
// write without a Token costs half, because it is not made as a transaction. A [Check] is
// always a transaction.
type Tx struct {
	Token  string
	Writes []Write

	// Twice says that the writes may be made twice, so tables/retry may repeat them
	// without a Token after a lost answer.
	Twice bool
}

// Write is one write of a transaction, made by [Put], [Change], [Delete] or
// [Check].
type Write struct {
	Op      Op
	Key     Key
	Item    Item     // OpPut: the whole item, keys included
	Updates []Update // OpUpdate: at least one, on different attributes, never on pk or sk
	If      []Cond   // all must hold for the item before the transaction

	refuse func(old Item) error // see [Write.Else]
}

// Op is the kind of a write.
type Op int

const (
	OpPut    Op = iota + 1 // replaces the whole item, or creates it
	OpUpdate               // changes some attributes; creates the item if it is absent
	OpDelete               // removes the item; nothing happens if it is absent
	OpCheck                // only checks its conditions
)

// Put writes a whole item, whose pk and sk attributes are its key.
func Put(item Item, conds ...Cond) Write {
	return Write{Op: OpPut, Key: item.Key(), Item: item, If: conds}
}

// Change updates attributes of an item. Conditions are added with [Write.When].
func Change(key Key, updates ...Update) Write {
	return Write{Op: OpUpdate, Key: key, Updates: updates}
}

// Delete removes an item.
func Delete(key Key, conds ...Cond) Write {
	return Write{Op: OpDelete, Key: key, If: conds}
}

// Check makes the transaction depend on an item that it does not write.
func Check(key Key, conds ...Cond) Write {
	return Write{Op: OpCheck, Key: key, If: conds}
}

// When adds conditions.
func (w Write) When(conds ...Cond) Write {
	w.If = append(w.If[:len(w.If):len(w.If)], conds...)
	return w
}

// Else sets the function that explains a failed condition of w. refuse gets the current
// item, or nil if the item does not exist. The error that refuse returns becomes the error
// of the transaction ([Tx.Resolve]). refuse returns nil if the item does not explain the
// failure.
func (w Write) Else(refuse func(old Item) error) Write {
	w.refuse = refuse
	return w
}

// Means returns a function for [Write.Else] that always returns err.
func Means(err error) func(Item) error { return func(Item) error { return err } }

// Overtaken returns a function for [Write.Else] that stores the current item in now and
// returns [ErrOvertaken]. The caller can decide again from this item.
func Overtaken(now *Item) func(Item) error {
	return func(old Item) error {
		*now = old
		return ErrOvertaken
	}
}

// OvertakenAs is like [Overtaken], but unmarshals the current item into v.
func OvertakenAs(v any) func(Item) error {
	return func(old Item) error {
		if err := Unmarshal(old, v); err != nil {
			return err
		}
		return ErrOvertaken
	}
}

// Resolve returns the first error from the [Write.Else] of a failed write; c if there is
// none.
func (tx Tx) Resolve(c *Cancelled) error {
	for i, r := range c.Reasons {
		if !r.Failed || tx.Writes[i].refuse == nil {
			continue
		}
		if err := tx.Writes[i].refuse(r.Old); err != nil {
			return err
		}
	}
	return c
}

// Cancelled says which writes of a transaction had a condition that failed. Nothing was
// written. A Cancelled is an [ErrOvertaken].
type Cancelled struct {
	Reasons []Reason // one for each write, in order
}

// Reason is the result of one write of a cancelled transaction.
type Reason struct {
	Failed bool
	Old    Item // if Failed: the current item, nil if it does not exist
}

// Is reports whether target is ErrOvertaken. A failed condition counts as overtaken unless
// a [Write.Else] explains it.
func (c *Cancelled) Is(target error) bool { return target == ErrOvertaken }

func (c *Cancelled) Error() string {
	for i, r := range c.Reasons {
		if r.Failed {
			return fmt.Sprintf("tables: the condition of write %d of %d does not hold", i+1, len(c.Reasons))
		}
	}
	return "tables: cancelled"
}

// Throttled is an [ErrThrottled] that says what was refused. Nothing was written.
type Throttled struct {
	Keys  []Key // of a Get or a Commit: the refused ones; nil if unknown
	Cause error
}

func (t *Throttled) Error() string {
	if t.Cause == nil {
		return ErrThrottled.Error()
	}
	return t.Cause.Error()
}

// Is reports whether target is ErrThrottled.
func (t *Throttled) Is(target error) bool { return target == ErrThrottled }

func (t *Throttled) Unwrap() error { return t.Cause }

// Feed is a table's change feed. It has every change of an item at least once, in order
// per item, for 24 hours. The embedded table can be told to leave out some changes, and to
// keep the others until all declared readers have read them, instead of for 24 hours.
type Feed interface {
	// Shards lists the shards that can still be read, parents before their
	// children. New shards may appear and closed ones disappear.
	Shards(ctx context.Context) ([]Shard, error)
	// Changes reads up to limit changes of a shard after a sequence number ("" for its
	// beginning). While there are none, it repeats the read until wait has passed, and then
	// reads one last time. done means that the shard is closed and was read to its end.
	Changes(ctx context.Context, shard, after string, limit int, wait time.Duration) (changes []StreamRecord, done bool, err error)
}

// Checkpoints stores the positions of a feed's readers in the database of the table, so
// that a copy of the database has matching positions.
type Checkpoints interface {
	// Checkpoints returns the stored positions: reader → sequence number.
	Checkpoints(ctx context.Context) (map[string]string, error)
	// SetCheckpoints stores positions and keeps those of other readers. It may return
	// ErrInvalid, and store none, if a position is not from the feed.
	SetCheckpoints(ctx context.Context, changed map[string]string) error
}

// Shard is a part of a change feed that is read in order. A child is read
// after its parent is done.
type Shard struct{ ID, Parent string }

// StreamRecord is one change of one item. A write that changes nothing makes no
// record.
type StreamRecord struct {
	Shard, Seq string    // Seq is a decimal number that orders the records of a shard
	Event      string    // "INSERT", "MODIFY" or "REMOVE", as in DynamoDB Streams
	At         time.Time // to the millisecond at best; DynamoDB rounds to seconds
	Key        Key
	Old, New   Item // Old is nil for INSERT, New for REMOVE
	Expired    bool // removed by TTL, not by a caller
}
