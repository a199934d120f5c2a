package settle

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/shared/rules/promo"
	"agentsocial/tables"
)

// refuses checks that a condition refuses a transaction.
func (d *fixture) refuses(what string, writes ...tables.Write) {
	d.t.Helper()
	var cancelled *tables.Cancelled
	if err := d.table.Commit(d.t.Context(), tables.Tx{Writes: writes}); !errors.As(err, &cancelled) {
		d.t.Errorf("%s: got error %v, want a failed condition", what, err)
	}
}

func TestStalePromo(t *testing.T) {
	for name, change := range map[string]tables.Update{
		"impressions": tables.SetAttr("impressions", int64(3)),
		"views":       tables.SetAttr("views", int64(3)),
		"state":       tables.SetAttr("state", tables.PromoRemoved),
	} {
		d := newFixture(t)
		p := d.buy(5, 1)
		to := *p
		to.Impressions, to.Views = 5, 5
		d.commit(tables.Change(tables.PromoKey(in, p.ID), change))
		if name != "state" { // a removed promo still earns
			d.refuses("earning after a change of "+name, p.Earn(&to, d.Now())...)
		}
		d.refuses("ending after a change of "+name, p.End(tables.PromoExpired, d.Now().UnixMilli())...)
		if books := d.books(); books[tables.EscrowAccount(p.ID)] != p.Budget {
			t.Errorf("after a change of %s: got books %v, want the whole budget %d in escrow", name, books, p.Budget)
		}
	}
	d := newFixture(t)
	p := d.buy(5, 1)
	to := *p
	to.Impressions = 5
	past := *p
	past.EndedAt = 1
	d.commit(tables.Put(past.Item()))
	d.refuses("ending an ended promo", p.End(tables.PromoExpired, d.Now().UnixMilli())...)
	d.commit(tables.Delete(tables.PromoKey(in, p.ID)))
	d.refuses("earning with a missing promo", p.Earn(&to, d.Now())...)
	d.refuses("removing a missing promo", p.Remove("ca_1", d.Now()))
}

// TestStaleBoard checks that a change of a board's promos fails if they changed since the
// board was read, or if the channel is gone.
func TestStaleBoard(t *testing.T) {
	d := newFixture(t)
	board := func() *tables.Board {
		b, err := tables.ReadBoard(in, d.get(tables.BoardKey(in)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	empty := board()
	p := d.buy(5, 1)
	full := board()
	entry := promo.Offer{USD: 5, Days: 1, CPM: promo.CPMLeast, Now: d.Now()}.Entry(&tables.Profile{ID: buyer})
	other := *p
	other.ID = "pr_other"
	d.refuses("adding to a stale board", empty.Add(&other, entry, nil)...)
	d.refuses("dropping a promo that is not on the board", full.Drop(other.ID)...)
	d.commit(full.Take(d.Now().Add(time.Hour)))
	d.refuses("taking a board twice", full.Take(d.Now().Add(2*time.Hour)))
	d.commit(full.Add(&other, entry, nil)...) // taking a board does not change its promos
	d.refuses("dropping from a stale board", full.Drop(p.ID)...)
	d.commit(tables.Delete(tables.ChannelKey(in)))
	d.refuses("adding without a channel", board().Add(p, entry, nil)...)
	d.refuses("dropping without a channel", board().Drop(p.ID)...)
}

// TestPromoCaps checks the caps of a channel, a buyer and its owner, and of all agents
// without an origin together. A cap has room again when the first promo that it counts
// ends.
func TestPromoCaps(t *testing.T) {
	d := newFixture(t)
	board := func() *tables.Board {
		b, err := tables.ReadBoard(in, d.get(tables.BoardKey(in)))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	buy := func(agent, owner string, days int) {
		o := promo.Offer{USD: 5, Days: days, CPM: promo.CPMLeast, Now: d.Now()}
		p := &tables.Promo{ID: "pr_" + d.Random(4), CreatedAt: d.Now().UnixMilli()}
		d.commit(board().Add(p, o.Entry(&tables.Profile{ID: agent, Owner: owner}), nil)...)
	}
	full := func(agent, owner string, after int) string {
		c := board().Full(&tables.Profile{ID: agent, Owner: owner}, noon.AddDate(0, 0, after))
		if c == nil {
			return ""
		}
		return fmt.Sprintf("%s %d, room on day %v", c.Of, c.Live, c.Room.Sub(noon).Hours()/24)
	}
	type want struct {
		agent, owner string
		after        int
		full         string
	}
	expect := func(when string, wants ...want) {
		t.Helper()
		for _, c := range wants {
			if got := full(c.agent, c.owner, c.after); got != c.full {
				t.Errorf("%s: agent %s of owner %q on day %d: got %q, want %q", when, c.agent, c.owner, c.after, got, c.full)
			}
		}
	}
	buy("ag_1", "anna", 1)
	buy("ag_2", "anna", 3)
	buy("ag_2", "", 4)
	expect("three promos",
		want{"ag_1", "anna", 0, ""}, want{"ag_1", "ben", 0, ""}, want{"ag_1", "", 0, "buyer 1, room on day 1"}, want{"ag_1", "", 1, ""},
		want{"ag_2", "anna", 0, "buyer 3, room on day 1"}, want{"ag_2", "anna", 1, ""}, want{"ag_2", "", 1, "buyer 2, room on day 3"},
		want{"ag_9", "", 0, ""}, want{"ag_9", "anna", 0, ""})
	buy("ag_9", "anna", 3)
	expect("four promos",
		want{"ag_8", "anna", 0, "buyer 3, room on day 1"}, want{"ag_8", "anna", 1, ""}, want{"ag_8", "", 0, ""}, want{"ag_8", "ben", 0, ""})
	for i := range tables.PromosNobodysMost - 1 {
		expect("agents without an origin have places left", want{"ag_8", "", 0, ""})
		buy(fmt.Sprintf("ag_nobody%d", i), "", 2+i)
	}
	expect("agents without an origin have no place left",
		want{"ag_8", "", 0, "nobody 5, room on day 2"}, want{"ag_8", "", 2, ""}, want{"ag_8", "ben", 0, ""}, want{"ag_nobody0", "", 0, "buyer 1, room on day 2"})
	for i := range tables.PromosMost - 8 {
		expect("the channel has places left", want{"ag_8", "ben", 0, ""})
		buy("ag_x", fmt.Sprintf("person %d", i), 5)
	}
	expect("the channel has no place left", want{"ag_8", "ben", 0, "channel 20, room on day 1"}, want{"ag_8", "", 0, "channel 20, room on day 1"}, want{"ag_8", "ben", 1, ""})
}

type committing struct {
	tables.Backend
	n atomic.Int64
}

func (c *committing) Commit(ctx context.Context, tx tables.Tx) error {
	c.n.Add(1)
	return c.Backend.Commit(ctx, tx)
}

// TestNoImpressions_OneWrite checks that a settlement without new impressions only takes
// the board.
func TestNoImpressions_OneWrite(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	d.seen(p, 3)
	d.pass(tables.SettleEvery)
	for _, want := range []int64{2, 1} {
		c := &committing{Backend: d.table}
		counted := *d.App
		counted.Table = c
		if err := (settle{&counted}).handle(t.Context()); err != nil || c.n.Load() != want {
			t.Errorf("commits of a sweep: got %d, error %v, want %d", c.n.Load(), err, want)
		}
		d.pass(tables.SettleEvery)
	}
}

func TestEndsOnTime(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	d.pass(24*time.Hour - time.Millisecond)
	if !p.Shown(d.Now()) {
		t.Error("a promo is not shown in its last millisecond")
	}
	d.handleOK()
	if d.past(p) != nil {
		t.Error("a promo ended before its days were over")
	}
	d = newFixture(t)
	p = d.buy(5, 1)
	d.pass(24 * time.Hour)
	if p.Shown(d.Now()) {
		t.Error("a promo is shown after its days were over")
	}
	d.handleOK()
	d.ended(p, tables.PromoExpired, 0)
}

func TestEarlyTick(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	d.pass(tables.SettleEvery)
	for n := int64(1); n < 4; n++ {
		d.seen(p, 1)
		d.handleOK()
		if earned := d.books()[tables.Revenue]; earned != n*p.Price {
			t.Errorf("revenue after tick %d: got %d, want %d", n, earned, n*p.Price)
		}
		d.pass(tables.SettleEvery - 10*time.Second)
	}
}

// failing is a table that fails to read one channel's promos.
type failing struct {
	tables.Backend
	err error
}

func (f *failing) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.PK == tables.ChannelPK(in) {
		return tables.Page{}, f.err
	}
	return f.Backend.Query(ctx, q)
}

func TestSweepReturnsErrorOfChannel(t *testing.T) {
	d := newFixture(t)
	d.buy(5, 1)
	d.pass(tables.SettleEvery)
	broken := errors.New("broken")
	app := *d.App
	app.Table = &failing{Backend: d.table, err: errors.Join(context.DeadlineExceeded, broken)}
	if err := (settle{&app}).handle(t.Context()); !errors.Is(err, broken) {
		t.Errorf("sweep with a failing channel: got error %v, want %v", err, broken)
	}
}

func TestTakenBoardIsSkipped(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	d.seen(p, 3)
	d.pass(tables.SettleEvery)
	b, err := tables.ReadBoard(in, d.get(tables.BoardKey(in)))
	if err != nil {
		t.Fatal(err)
	}
	m := &meddling{Backend: d.table, do: func() { d.commit(b.Take(d.Now().Add(time.Minute))) }}
	m.left.Store(1)
	meddled := *d.App
	meddled.Table = m
	if err := (settle{&meddled}).handle(t.Context()); err != nil {
		t.Error(err)
	}
	if earned := d.books()[tables.Revenue]; earned != 0 || m.left.Load() != 0 {
		t.Errorf("sweep of a taken board: got revenue %d after %d commits, want 0 after 1", earned, 1-m.left.Load())
	}
}

// lagging is a table whose eventually consistent reads find nothing, except in indexes.
type lagging struct{ tables.Backend }

func (b lagging) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.Index == "" && q.Consistency == tables.Eventual {
		return tables.Page{}, nil
	}
	return b.Backend.Query(ctx, q)
}

func (b lagging) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if c == tables.Eventual {
		return make([]tables.Item, len(keys)), nil
	}
	return b.Backend.Get(ctx, c, keys...)
}

func TestReadsStrongly(t *testing.T) {
	d := newFixture(t)
	p := d.buy(5, 1)
	d.seen(p, 3)
	d.pass(24 * time.Hour)
	app := *d.App
	app.Table = lagging{d.table}
	if err := (settle{&app}).handle(t.Context()); err != nil {
		t.Error(err)
	}
	d.ended(p, tables.PromoExpired, 3)
}

// TestManyChannels checks that a sweep settles more channels than fit into one page.
func TestManyChannels(t *testing.T) {
	d := newFixture(t)
	const channels = pageMost + 20
	for i := range channels {
		name := fmt.Sprintf("den-%d", i)
		b, err := tables.ReadBoard(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		o := promo.Offer{USD: 5, Days: 1, CPM: promo.CPMLeast, Now: d.Now()}
		p := &tables.Promo{ID: "pr_" + name, Channel: name, CreatedAt: d.Now().UnixMilli()}
		d.commit(tables.Put((&tables.Channel{Name: name, Kind: tables.KindWork}).Item()))
		d.commit(b.Add(p, o.Entry(&tables.Profile{ID: buyer}), nil)...)
	}
	d.pass(tables.SettleEvery)
	c := &committing{Backend: d.table}
	app := *d.App
	app.Table = c
	if err := (settle{&app}).handle(t.Context()); err != nil || c.n.Load() != channels {
		t.Errorf("settled channels: got %d, want %d; error %v", c.n.Load(), channels, err)
	}
}
