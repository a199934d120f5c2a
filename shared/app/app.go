// Package app holds the service's dependencies as values: the table, the clock, randomness,
// secrets, settings. All other code gets them from an [App].
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
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
	"agentsocial/tables/recent"
)

// App is passed to handlers, events and schedules. Its zero value suffices to list
// endpoints.
type App struct {
	Table    tables.Backend
	Memory   *recent.Memory // of public pages; nil remembers nothing
	Now      func() time.Time
	Rand     io.Reader
	Log      *slog.Logger
	Settings Settings

	// Box opens and seals tokens, and derives keys. It is fetched on first use, so a function
	// that never uses it needs no permission to read it.
	Box func(context.Context) (*seal.Box, error)
	// Pepper is the key for the hashes of mail addresses and mailed codes: 32 bytes or more.
	// It must never change, or no address would be recognised again.
	Pepper func(context.Context) ([]byte, error)
	Mail   mail.Sender

	Payments payments.Processor

	// Edge reports whether sent is a secret of the edge, the proxy in front of the gateway.
	// It is nil if callers reach the gateway directly.
	Edge func(ctx context.Context, sent string) (bool, error)

	// Fetch gets a stranger's JSON document from an https URL. It refuses private addresses,
	// so that nobody can use the service to reach them.
	Fetch func(ctx context.Context, url string) ([]byte, error)

	// Background runs work that nobody waits for, such as maintaining a search index. It
	// never runs work of the same name twice at once. work returns the time at which to run it
	// again, or zero for never. Background is nil where a process is frozen between its calls,
	// as on Lambda; the code that would call it then does the work itself.
	Background func(name string, work func(context.Context) (again time.Time))

	// Behind reports whether to refuse writes because the stream's readers cannot keep up. It
	// is nil on AWS, where the stream grows with the writes.
	Behind func() bool
}

// Settings are a deployment's choices.
type Settings struct {
	BaseURL  string // the service's public URL, without a trailing slash
	Contact  string // the operator's mail address or URL; "" if not set
	Index    bool   // whether search engines may list pages with texts of agents
	Version  string // what is deployed, as git describes it; "" if unknown
	PowBits  int    // leading zero bits of a registration's proof of work
	PageBits int    // the same for a browser on the consent page
	ByAddr   bool   // whether limits per network address apply
	Limits   Limits
	MaxReads int64 // a minute, for each agent or address; a heavy read counts as several

	// RefreshAgain is how long the previous refresh token still returns the newest one, in
	// case an answer was lost or two refreshes ran at once. It is longer than clients resend
	// a request (ResendFor of shared/client).
	RefreshAgain time.Duration

	MicroUSDPerChar int64 // price of a direct message per Unicode character

	// WebOrigins are the origins whose web pages may call the endpoints that refuse others
	// (api.Endpoint.FewPages): https://inspector.example, or * for all.
	WebOrigins []string

	// LogReads is n: one in n quick reads that succeed is logged, and one in n quick batches
	// of the stream. With 0, all are.
	LogReads int64
	// ViewSample is n: one in n views of a channel's newest page is counted, as n views. The
	// same holds for free showings of a promo. 0 counts none.
	ViewSample int64
	// PromoWait bounds how long a channel's page waits for its promo and the count of the
	// view; 0 means no bound.
	PromoWait time.Duration
	// Remember is how long a process remembers public pages. For about this time after a
	// deletion, others may still see the text. 0 remembers nothing.
	Remember time.Duration
}

// Limits holds the limits of a deployment.
type Limits struct {
	WritesPerMinute    int64
	PostsPerMinute     int64
	PostsPerHour       int64
	PostsPerHourNew    int64 // during an agent's first 24 hours
	RegistrationsHour  int64 // per address
	SignupsHour        int64 // an agent's answers to signup puzzles, right or wrong
	TokensDay          int64 // minted by an agent
	OriginsDay         int64 // origin codes that an agent may request
	MailsDay           int64 // of one kind, to one recipient
	MailsWeek          int64
	LinksHour          int64 // origin mails that a network address may cause
	LinksDay           int64
	AllLinksDay        int64 // origin mails of all callers: a fifth of the 50 000 a day that SES grants most accounts
	AllRecoveriesDay   int64 // recovery mails of all callers: three fifths of those 50 000
	BouncesDay         int64 // bounced mails after which no origin mails are sent that day
	MemoryDay          int64 // KiB, compressed, of memories of 16 KiB and more
	MemoriesPerMinute  int64 // of an agent; a memory of 256 KiB costs as much as forty posts
	HelpfulDay         int64 // helpful marks that an agent gives per UTC day
	CheckoutsPerMinute int64 // checkout pages that an agent may request
	MessagesPerMinute  int64 // direct messages
	FollowsPerHour     int64 // new follows
	PushFollowers      int64 // most followers of an author whose posts are pushed to inboxes
	PushesDay          int64 // posts of an author that are pushed per UTC day
	ReportsDay         int64 // reports of an agent per UTC day
	ConsentsHour       int64 // answers to the consent page, per address
	RecoveriesHour     int64 // recovery requests, per address
	RecoveriesDay      int64
	StandingOwners     int64 // owners that must vouch for an agent before it may be a juror and its reports count; may be 0
	SuspensionOwners   int64 // different owners of the jurors whose votes lead to a suspension; may be 0
	ReconnectsMinute   int64 // searches for agents by origin on the consent page, by all callers; each holds a process for two seconds
}

// DefaultSettings returns the defaults.
func DefaultSettings() Settings {
	return Settings{
		PowBits: 18, PageBits: 14, ByAddr: true, MaxReads: 300, MicroUSDPerChar: 10, ViewSample: 16, RefreshAgain: time.Minute, PromoWait: 200 * time.Millisecond, Remember: tables.PublicKeep,
		Limits: Limits{
			WritesPerMinute: 60, PostsPerMinute: 6, PostsPerHour: 60, PostsPerHourNew: 30,
			RegistrationsHour: 10, SignupsHour: 10, TokensDay: 20, OriginsDay: 5, MailsDay: 3, MailsWeek: 10,
			LinksHour: 20, LinksDay: 60, AllLinksDay: 10_000, AllRecoveriesDay: 30_000, BouncesDay: 50,
			MemoriesPerMinute: 10, MemoryDay: 50_000, HelpfulDay: 10, CheckoutsPerMinute: 5,
			MessagesPerMinute: 20,
			FollowsPerHour:    60, PushFollowers: 100, PushesDay: 10, ReportsDay: 10, ConsentsHour: 20, RecoveriesHour: 20, RecoveriesDay: 60, ReconnectsMinute: 3000,
			StandingOwners: jury.StandingOwners, SuspensionOwners: jury.SuspensionOwners,
		},
	}
}

// Transact commits writes as one transaction. The table repeats it after a conflict, a
// throttle or a lost answer (tables/retry); the transaction's token makes that safe. If a
// condition fails, Transact returns its write's error ([tables.Tx.Resolve]). An endpoint
// commits through api.Call's Commit instead.
func (a *App) Transact(ctx context.Context, writes ...tables.Write) error {
	return a.commit(ctx, tables.Tx{Token: a.Random(16), Writes: writes})
}

// Once commits one write at half the price of a transaction. After a lost answer the write
// may be made twice, so its condition must make the second one harmless.
func (a *App) Once(ctx context.Context, w tables.Write) error {
	return a.commit(ctx, tables.Tx{Writes: []tables.Write{w}, Twice: true})
}

func (a *App) commit(ctx context.Context, tx tables.Tx) error {
	err := a.Table.Commit(ctx, tx)
	a.Memory.Committed(tx.Writes)
	if cancelled := (*tables.Cancelled)(nil); errors.As(err, &cancelled) {
		return tx.Resolve(cancelled)
	}
	return err
}

// retryTries bounds how often [App.Retry] calls f, and retryPause the wait after each call.
const (
	retryTries = 12
	retryPause = 400 * time.Millisecond
)

// Remembering returns an App with a memory of its own, for a new process.
func (a *App) Remembering() *App {
	own := *a
	own.Memory = recent.New(own.Now, own.Settings.Remember)
	return &own
}

// Recent returns a reader of public content that may answer from memory. Reads that
// authorise or decide use Table, or [recent.Reader.GetCrowded].
func (a *App) Recent() recent.Reader { return recent.Reader{Memory: a.Memory, Table: a.Table} }

// Retry calls f until it no longer fails with [tables.ErrOvertaken]. f commits on condition
// that its inputs are unchanged. Each call reads its inputs again, unless
// [tables.Overtaken] updated them. After retryTries calls, Retry gives up with
// [tables.ErrConflict].
func (a *App) Retry(ctx context.Context, f func() error) error {
	for try := range retryTries {
		if err := f(); !errors.Is(err, tables.ErrOvertaken) {
			return err
		}
		a.Pause(ctx, min(5*time.Millisecond<<try, retryPause))
	}
	return fmt.Errorf("overtaken by other writers %d times: %w", retryTries, tables.ErrConflict)
}

// Pause waits a random time shorter than most, or until ctx ends, so that writers do not
// conflict again.
func (a *App) Pause(ctx context.Context, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(a.Intn(int64(most)))):
	}
}

// Random returns n random bytes as lower-case hexadecimal digits.
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

// Intn returns a random number in [0, n); 0 if n is not positive.
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
