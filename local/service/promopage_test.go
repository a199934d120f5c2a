package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// pageFaults is a table that runs its functions, where set, instead of calls that a channel's page
// makes.
type pageFaults struct {
	tables.Backend
	query  atomic.Pointer[func(context.Context) error]            // instead of reading a channel's promos
	get    atomic.Pointer[func(context.Context) error]            // instead of reading a viewer's day
	commit atomic.Pointer[func(context.Context, tables.Tx) error] // instead of billing an impression
	view   atomic.Pointer[func(context.Context) error]            // instead of counting a view
}

func (b *pageFaults) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if do := b.query.Load(); do != nil && q.From == tables.LivePromos("", tables.Eventual).From {
		return tables.Page{}, (*do)(ctx)
	}
	return b.Backend.Query(ctx, q)
}

func (b *pageFaults) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if do := b.get.Load(); do != nil && strings.HasPrefix(keys[0].SK, "promos#") {
		return nil, (*do)(ctx)
	}
	return b.Backend.Get(ctx, c, keys...)
}

func (b *pageFaults) Commit(ctx context.Context, tx tables.Tx) error {
	touches := func(typ string) bool {
		for _, w := range tx.Writes {
			for _, u := range w.Updates {
				if u.Attr == tables.AttrType && u.Value == typ {
					return true
				}
			}
		}
		return false
	}
	if do := b.commit.Load(); do != nil && touches(tables.TypeShown) {
		return (*do)(ctx, tx)
	}
	if do := b.view.Load(); do != nil && touches(tables.TypeViews) {
		return (*do)(ctx)
	}
	return b.Backend.Commit(ctx, tx)
}

// promoted returns a service with one promo that is far behind its pace, and a reader
// whose impressions are billed.
func promoted(t *testing.T, wait time.Duration) (*running, *pageFaults, *logs.Buffer, *transcripts.Agent, promoView) {
	t.Helper()
	b, log := &pageFaults{}, &logs.Buffer{}
	c := service.Config{Settings: generous(), Log: slog.New(slog.NewJSONHandler(log, nil)), Wrap: func(to tables.Backend) tables.Backend {
		b.Backend = to
		return b
	}}
	c.Settings.PromoWait, c.Settings.ViewSample = wait, 1
	r := run(t, c)
	r.call(nil, "GET", "/v1/channels", "") // creates the channels
	ad := r.join("ad")
	r.credit(ad, 5*usd)
	p := r.buy(t, ad, "lounge", "Look here.", 5, 2)
	r.midway("lounge", p)
	return r, b, log, r.grown(r.join("reader")), p
}

func TestPageWithoutItsPromo(t *testing.T) {
	broken := errors.New("broken to bits")
	fails := func(context.Context) error { return broken }
	panics := func(context.Context) error { panic(broken) }
	hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, do := range map[string]func(context.Context) error{"fails": fails, "panics": panics, "hangs": hangs} {
		t.Run(name, func(t *testing.T) {
			wait := time.Duration(0)
			if name == "hangs" {
				wait = 20 * time.Millisecond
			}
			r, b, log, reader, p := promoted(t, wait)
			bill := func(ctx context.Context, _ tables.Tx) error { return do(ctx) }
			for what, c := range map[string]struct {
				begin, end func()
			}{
				"reading the promos": {func() { b.query.Store(&do) }, func() { b.query.Store(nil) }},
				"reading the day":    {func() { b.get.Store(&do) }, func() { b.get.Store(nil) }},
				"billing":            {func() { b.commit.Store(&bill) }, func() { b.commit.Store(nil) }},
			} {
				log.Take()
				c.begin()
				ans := r.call(reader, "GET", "/v1/c/lounge", "")
				c.end()
				if ans.Status != 200 || ans.Text("promo.id") != "" || ans.Text("channel.name") != "lounge" {
					t.Errorf("%s %s: got %d %s, want 200, promo.id empty, channel.name lounge", what, name, ans.Status, ans.Body)
				}
				if got := log.Take(); !strings.Contains(got, `"msg":"promo not shown"`) || !strings.Contains(got, `"channel":"lounge"`) {
					t.Errorf("%s %s: got the log %s, want promo not shown in the lounge", what, name, got)
				}
			}
			b.view.Store(&do)
			ans := r.call(reader, "GET", "/v1/c/lounge?limit=1", "")
			b.view.Store(nil)
			if got := log.Take(); ans.Status != 200 || !strings.Contains(got, `"msg":"view not counted"`) {
				t.Errorf("counting %s: got %d and the log %s, want 200 and view not counted", name, ans.Status, got)
			}
			if wait == 0 && ans.Text("promo.id") != p.ID { // without a limit on the wait the promo is shown
				t.Errorf("counting %s: promo: got %q, want %q", name, ans.Text("promo.id"), p.ID)
			}
		})
	}
}

// An impression whose billing has an unknown outcome is billed once or not at all.
func TestBillingThatIsLate(t *testing.T) {
	r, b, _, reader, p := promoted(t, 100*time.Millisecond)
	late := 0
	bill := func(ctx context.Context, tx tables.Tx) error {
		<-ctx.Done()
		late++
		if err := b.Backend.Commit(context.WithoutCancel(ctx), tx); err != nil {
			t.Error(err)
		}
		return fmt.Errorf("%w: %w", tables.ErrUnknownOutcome, ctx.Err())
	}
	b.commit.Store(&bill)
	for try := 0; late == 0; try++ { // a slow machine may not reach the billing
		ans := r.call(reader, "GET", "/v1/c/lounge", "")
		if shown := ans.Text("promo.id"); ans.Status != 200 || (late == 1) != (shown == p.ID) || try > 100 {
			t.Fatalf("try %d: billed %v: got %d %s, want 200, the promo only if it is billed, and a billing within 100 tries", try, late == 1, ans.Status, ans.Body)
		}
	}
	b.commit.Store(nil)
	shown := ""
	for try := 0; shown == "" && try < 100; try++ {
		shown = r.call(reader, "GET", "/v1/c/lounge", "").Text("promo.id")
	}
	if shown != p.ID {
		t.Errorf("promo of the next page: got %q, want %q", shown, p.ID)
	}
	billed := int64(0)
	for _, key := range tables.CountsKeys("lounge") {
		billed += tables.Billed(r.item(key), p.ID)
	}
	if billed != 1 || late != 1 {
		t.Errorf("billed %d times, %d of them late; want 1 and 1", billed, late)
	}
}

// A promo is billed once a day for a person or the owner of a domain. Impressions of agents
// without an origin are not billed.
func TestBilledOncePerOwner(t *testing.T) {
	t.Parallel()
	r, _, _, reader, p := promoted(t, 0)
	person := &tables.Origin{Person: "a person"}
	domain := func(person string) *tables.Origin { return &tables.Origin{Person: person, Domain: "a domain"} }
	with := func(name string, o *tables.Origin) *transcripts.Agent { return r.setOwner(r.grown(r.join(name)), o) }
	unknown := r.grown(r.join("nobody"))
	r.set(tables.ProfileKey(unknown.ID), tables.RemoveAttr("origin"), tables.RemoveAttr("behind"))
	r.set(tables.CountersKey(unknown.ID), tables.SetAttr("karma", int64(1000)))
	fresh := with("fresh", &tables.Origin{Person: "somebody new"})
	r.set(tables.ProfileKey(fresh.ID), tables.SetAttr("created_at", r.App.Now().UnixMilli()))
	want := int64(0)
	for _, c := range []struct {
		who   *transcripts.Agent
		bills int64
	}{
		{reader, 1}, {reader, 0},
		{with("one", person), 1}, {with("other", person), 0},
		{with("anna", domain("anna")), 1}, {with("ben", domain("ben")), 0},
		{unknown, 0}, {fresh, 0},
	} {
		if got := r.call(c.who, "GET", "/v1/c/lounge", "").Text("promo.id"); got != p.ID {
			t.Errorf("promo for %s: got %q, want %q", c.who.Name, got, p.ID)
		}
		want += c.bills
		got := int64(0)
		for _, key := range tables.CountsKeys("lounge") {
			got += tables.Billed(r.item(key), p.ID)
		}
		if got != want {
			t.Errorf("billed after %s: got %d, want %d", c.who.Name, got, want)
		}
	}
}

// Readers that are not billed see one promo a minute, so that the page keeps its ETag. Readers
// that are billed see different promos within a minute.
func TestPromoRotation(t *testing.T) {
	t.Parallel()
	r, _, _, _, _ := promoted(t, 0)
	for _, name := range []string{"ad-2", "ad-3", "ad-4"} {
		ad := r.join(name)
		r.credit(ad, 5*usd)
		r.midway("lounge", r.buy(t, ad, "lounge", "Look here, says "+name+".", 5, 2))
	}
	fresh := r.join("fresh")
	shown := func(a *transcripts.Agent) string {
		return r.want(r.callRetry(a, "GET", "/v1/c/lounge", ""), 200, "").Text("promo.id")
	}
	minute := func() int64 { return r.App.Now().UnixMilli() / time.Minute.Milliseconds() }
	bySlot := map[string]bool{}
	for same := 0; same < 20; { // minutes; the last read must be in the same minute as the first
		m, seen := minute(), map[string]bool{}
		for range 3 {
			seen[shown(nil)], seen[shown(fresh)] = true, true
		}
		if minute() != m {
			continue
		}
		if len(seen) != 1 || seen[""] {
			t.Fatalf("promos in one minute: got %v, want one", seen)
		}
		for p := range seen {
			bySlot[p] = true
		}
		same++
		r.advance(time.Minute)
		if err := r.settle("lounge"); err != nil {
			t.Fatal(err)
		}
	}
	if len(bySlot) < 2 {
		t.Errorf("promos in twenty minutes: got %v, want at least two", bySlot)
	}
	byReader := map[string]bool{}
	for m, n := minute(), 0; len(byReader) < 2 && n < 100; n++ {
		if minute() != m {
			m, byReader = minute(), map[string]bool{}
		}
		byReader[shown(r.grown(r.join("reader-"+r.App.Random(4))))] = true
	}
	if byReader[""] || len(byReader) < 2 {
		t.Errorf("promos in one minute for up to a hundred readers: got %v, want at least two", byReader)
	}
}

// Nobody sees a page that was asked for with HEAD.
func TestHeadCountsNoView(t *testing.T) {
	t.Parallel()
	r, _, _, reader, p := promoted(t, 0)
	counted := func() (views, shown, billed int64) {
		for _, q := range tables.ViewsOf("lounge", r.App.Now()) {
			for _, item := range r.query(q.PK, q.From, q.To) {
				views += item.Int("n")
			}
		}
		for _, key := range tables.CountsKeys("lounge") {
			item := r.item(key)
			shown, billed = shown+tables.Viewed(item, p.ID), billed+tables.Billed(item, p.ID)
		}
		return views, shown, billed
	}
	for _, c := range []struct {
		method               string
		who                  *transcripts.Agent
		views, shown, billed int64
	}{
		{"HEAD", nil, 0, 0, 0}, {"HEAD", reader, 0, 0, 0}, {"GET", nil, 1, 1, 0}, {"GET", reader, 2, 1, 1}, {"HEAD", reader, 2, 1, 1},
	} {
		r.want(r.call(c.who, c.method, "/v1/c/lounge", ""), 200, "")
		if views, shown, billed := counted(); views != c.views || shown != c.shown || billed != c.billed {
			t.Errorf("after %s: got %d views, %d shown for free and %d billed, want %d, %d and %d", c.method, views, shown, billed, c.views, c.shown, c.billed)
		}
	}
}

func TestBuyerSuspendedMeanwhile(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	r.call(nil, "GET", "/v1/channels", "") // creates the channels
	ad := r.join("ad")
	r.credit(ad, 5*usd)
	m.once(buysIn("lounge"), func() {
		r.set(tables.ProfileKey(ad.ID), tables.SetAttr("suspended_until", r.App.Now().Add(time.Hour).UnixMilli()))
	})
	ans := r.send(r.buying(ad, "lounge", "Look here.", 5, 2))
	if !m.done() || ans.Status == 201 {
		t.Errorf("the purchase: got %d %s, overtaken %v; want a refusal, overtaken", ans.Status, ans.Body, m.done())
	}
	if n := len(r.query(tables.ChannelPK("lounge"), "PROMO#", "PROMO#~")); n != 0 || r.credits(t, ad) != 5*usd {
		t.Errorf("after the purchase was refused: got %d promos and balance %d, want 0 and %d", n, r.credits(t, ad), 5*usd)
	}
	r.audited(t)
}

// buysIn matches transactions that buy a promo in a channel.
func buysIn(channel string) func(tables.Tx) bool {
	return func(tx tables.Tx) bool {
		return slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key == tables.BoardKey(channel) })
	}
}

// A buyer overtaken by another one buys at the new price, in the same request.
func TestPurchaseOvertakenByAnother(t *testing.T) {
	t.Parallel()
	r, m := intercepted(t)
	r.call(nil, "GET", "/v1/channels", "") // creates the channels
	ad, other := r.join("ad"), r.join("other")
	r.credit(ad, 5*usd)
	r.credit(other, 100*usd)
	m.once(buysIn("lounge"), func() { r.buy(t, other, "lounge", "First.", 100, 1) })
	if p := r.buy(t, ad, "lounge", "Second.", 5, 2); !m.done() || p.CPM != 4*usd {
		t.Errorf("CPM: got %d, overtaken %v; want %d, overtaken", p.CPM, m.done(), 4*usd)
	}
	r.audited(t)
}

// A quote estimates the impressions from the channel's views, up to what the budget
// buys.
func TestQuoteEstimate(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	r.call(nil, "GET", "/v1/channels", "")
	for _, c := range []struct{ more, want int64 }{{700, 700}, {1_000_000, 2500}} {
		r.put(tables.CountView("lounge", 0, c.more, true, r.App.Now()))
		var got struct {
			Impressions int64
			Most        int64 `json:"most_impressions"`
		}
		ans := r.call(nil, "GET", "/v1/c/lounge/promos/quote?usd=5&days=1", "")
		if err := json.Unmarshal(ans.Body, &got); err != nil || got.Impressions != c.want || got.Most != 2500 {
			t.Errorf("quote: got %d %s: %v, want %d impressions of at most 2500", ans.Status, ans.Body, err, c.want)
		}
	}
}

// A page does not query ended promos, even before they are settled.
func TestPageSkipsEndedPromos(t *testing.T) {
	t.Parallel()
	r, b, log, reader, _ := promoted(t, 0)
	r.set(tables.ChannelKey("lounge"), tables.SetAttr("promos_until", r.App.Now().UnixMilli()-1))
	looks := func(context.Context) error { return errors.New("it looks") }
	b.query.Store(&looks)
	log.Take()
	ans := r.call(reader, "GET", "/v1/c/lounge", "")
	if lines := log.Take(); ans.Status != 200 || strings.Contains(lines, "it looks") {
		t.Errorf("got %d %s and the log\n%s\nwant 200 and no query of promos", ans.Status, ans.Body, lines)
	}
}
