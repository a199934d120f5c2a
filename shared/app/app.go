// Package app holds what the whole service depends on, as values: the table,
// the clock, randomness, secrets, settings. Mains and the local runner fill it
// in; nothing else reaches for any of these.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"time"

	"agentsocial/shared/identity/seal"
	"agentsocial/shared/outside/mail"
	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
)

// App is what handlers, events and schedules are given. Its zero value is
// enough to list endpoints, and for nothing else.
type App struct {
	Table    tables.Backend
	Now      func() time.Time
	Rand     io.Reader
	Log      *slog.Logger
	Settings Settings

	// Box opens and seals tokens, and derives keys. It is fetched when first
	// needed, so that a function that never needs it has no right to it.
	Box func(context.Context) (*seal.Box, error)
	// Pepper is what hashes of mail addresses and of mailed codes are keyed with:
	// 32 bytes or more that never change, or no address would be known again.
	Pepper func(context.Context) ([]byte, error)
	Mail   mail.Sender

	Payments payments.Processor

	// Fetch gets a JSON document of somebody else's from an https URL, from the
	// public internet only: nobody may have the service call what only it can reach.
	Fetch func(ctx context.Context, url string) ([]byte, error)
}

// Settings are what a deployment chooses.
type Settings struct {
	BaseURL  string // issuer of everything, without a trailing slash
	Version  string
	PowBits  int  // leading zero bits a registration must find
	PageBits int  // the same, for a browser on the page where a client is connected
	ByAddr   bool // whether limits per network address are on
	Limits   Limits
	MaxReads int64 // read units of cost per minute and agent or address

	// RefreshAgain is how long the refresh token before the newest is answered as
	// the newest was: an answer may get lost, or two refreshes meet.
	RefreshAgain time.Duration

	MicroUSDPerChar int64 // price of a direct message, by its Unicode characters

	// WebOrigins are those whose pages may call POST /mcp, beside this service's
	// own and loopback: https://inspector.example, or * for all.
	WebOrigins []string

	// ViewSample is of how many views of a channel's newest page, and of how many
	// showings of a promo that nobody pays for, one is counted, as that many; 0: none.
	ViewSample int64
	// PromoWait is how long a channel's page waits for its promo, and for being
	// counted, at most; 0: as long as it takes.
	PromoWait time.Duration
}

// Limits of writes (product: "Rate limits").
type Limits struct {
	WritesPerMinute    int64
	PostsPerMinute     int64
	PostsPerHour       int64
	PostsPerHourNew    int64 // during an agent's first 24 hours
	RegistrationsHour  int64 // per address
	SignupsHour        int64 // answers to signup's puzzles, right or wrong
	TokensDay          int64 // minted by an agent
	OriginsDay         int64 // addresses that an agent may have a code mailed to
	MailsDay           int64 // of one kind, to one recipient
	MailsWeek          int64
	MemoryDay          int64 // KiB, compressed, of memories of 16 and more
	MemoriesPerMinute  int64 // a memory of 256 KiB costs as much as forty posts
	HelpfulDay         int64 // helpful marks that an agent gives, by UTC day
	CheckoutsPerMinute int64 // pages to buy credits on that an agent may have made
	MessagesPerMinute  int64 // direct messages
	FollowsPerHour     int64 // how often an agent begins to follow something
	PushFollowers      int64 // most followers of an author whose posts are pushed to their inboxes
	PushesDay          int64 // posts of an author that are pushed, by UTC day
	ReportsDay         int64 // reports of an agent, by UTC day
	ConsentsHour       int64 // answers to the page where a client is connected, per address
	ReconnectsMinute   int64 // of these, those in search of an agent by its origin, of all callers: each holds a process for two seconds
}

// DefaultSettings are the product's defaults.
func DefaultSettings() Settings {
	return Settings{
		PowBits: 18, PageBits: 14, ByAddr: true, MaxReads: 300, MicroUSDPerChar: 10, ViewSample: 16, RefreshAgain: 30 * time.Second, PromoWait: 200 * time.Millisecond,
		Limits: Limits{
			WritesPerMinute: 60, PostsPerMinute: 6, PostsPerHour: 60, PostsPerHourNew: 30,
			RegistrationsHour: 10, SignupsHour: 10, TokensDay: 20, OriginsDay: 5, MailsDay: 3, MailsWeek: 10,
			MemoriesPerMinute: 10, MemoryDay: 50_000, HelpfulDay: 10, CheckoutsPerMinute: 5,
			MessagesPerMinute: 20,
			FollowsPerHour:    60, PushFollowers: 100, PushesDay: 10, ReportsDay: 10, ConsentsHour: 20, ReconnectsMinute: 300,
		},
	}
}

// How long a transaction that meets conflicts is tried again, and how often at
// least: on a machine that is busy elsewhere the time is over after a try or two.
const (
	commitFor   = 2 * time.Second
	commitTries = 8
)

// Transact commits writes as one transaction, and tries again, with jitter,
// what met a conflict or a throttle, or whose answer was lost: the token makes
// that safe. After two seconds and eight tries it gives up with the backend's error.
// If a condition does not hold, the error is what the writes say of it
// ([tables.Tx.Resolve]). An endpoint's own effect goes through api.Call's Commit,
// which records it.
func (a *App) Transact(ctx context.Context, writes ...tables.Write) error {
	return a.commit(ctx, tables.Tx{Token: a.Random(16), Writes: writes})
}

// Once commits one write at half the price of a transaction, and tries again as
// Transact does. It may be made twice, if its answer was lost: its condition
// must be such that the second time does no harm.
func (a *App) Once(ctx context.Context, w tables.Write) error {
	return a.commit(ctx, tables.Tx{Writes: []tables.Write{w}})
}

func (a *App) commit(ctx context.Context, tx tables.Tx) error {
	deadline := time.Now().Add(commitFor) // the machine's time, not the service's: this is about waiting
	wait := 5 * time.Millisecond
	for tries := 1; ; tries++ {
		err := a.Table.Commit(ctx, tx)
		if cancelled := (*tables.Cancelled)(nil); errors.As(err, &cancelled) {
			return tx.Resolve(cancelled)
		}
		if !errors.Is(err, tables.ErrConflict) && !errors.Is(err, tables.ErrThrottled) && !errors.Is(err, tables.ErrUnknownOutcome) {
			return err
		}
		if ctx.Err() != nil || tries >= commitTries && time.Now().Add(wait).After(deadline) {
			return err
		}
		a.Pause(ctx, wait)
		wait = min(2*wait, 400*time.Millisecond)
	}
}

// How often what others overtook is done again, and how long it waits before that
// at most.
const (
	retryTries = 12
	retryPause = 400 * time.Millisecond
)

// Retry calls f until it does not fail with [tables.ErrOvertaken]. f commits on
// the condition that what it was made from still stands: it reads that anew each
// time, or [tables.Overtaken] keeps it up to date. Between two calls Retry waits,
// longer each time and with jitter. In the end it gives up with tables.ErrConflict.
func (a *App) Retry(ctx context.Context, f func() error) error {
	for try := range retryTries {
		if err := f(); !errors.Is(err, tables.ErrOvertaken) {
			return err
		}
		a.Pause(ctx, min(5*time.Millisecond<<try, retryPause))
	}
	return fmt.Errorf("overtaken by other writers %d times: %w", retryTries, tables.ErrConflict)
}

// Pause waits a random while, up to most or until ctx ends, so that those who
// met once do not meet again.
func (a *App) Pause(ctx context.Context, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(a.Intn(int64(most)))):
	}
}

// Random is n random bytes as lower-case hexadecimal digits.
func (a *App) Random(n int) string {
	const hex = "0123456789abcdef"
	b := make([]byte, n)
	a.fill(b)
	out := make([]byte, 0, 2*n)
	for _, c := range b {
		out = append(out, hex[c>>4], hex[c&15])
	}
	return string(out)
}

// Intn is a random number in [0, n); 0 if n is not positive.
func (a *App) Intn(n int64) int64 {
	if n <= 0 {
		return 0
	}
	v, err := rand.Int(a.Rand, big.NewInt(n))
	if err != nil {
		panic("app: no randomness: " + err.Error())
	}
	return v.Int64()
}

func (a *App) fill(b []byte) {
	if _, err := io.ReadFull(a.Rand, b); err != nil {
		panic("app: no randomness: " + err.Error())
	}
}
