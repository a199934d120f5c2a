package service_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/events/settle"
	"agentsocial/local/checks/books"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

const usd = 1_000_000 // micro-USD

// promoView is a promo as its buyer sees it.
type promoView struct {
	ID, State          string
	Impressions, Views int64
	Budget             int64 `json:"budget_micro_usd"`
	Spent              int64 `json:"spent_micro_usd"`
	Returned           int64 `json:"returned_micro_usd"`
	CPM                int64 `json:"cpm_micro_usd"`
	Most               int64 `json:"most_impressions"`
	EndsAt             int64 `json:"ends_at"`
}

// grown makes an agent's impressions billable: a day old, with an origin.
func (r *running) grown(a *transcripts.Agent) *transcripts.Agent {
	r.t.Helper()
	r.set(tables.ProfileKey(a.ID), tables.SetAttr("created_at", r.App.Now().Add(-25*time.Hour).UnixMilli()))
	return r.setOwner(a, &tables.Origin{Person: "the person behind " + a.Name})
}

func (r *running) setOwner(a *transcripts.Agent, o *tables.Origin) *transcripts.Agent {
	r.t.Helper()
	r.set(tables.ProfileKey(a.ID), tables.SetAttr("origin", "verified"), tables.SetAttr("behind", o.Owner()))
	return a
}

func (r *running) buying(a *transcripts.Agent, channel, body string, usd, days int64) *transcripts.Request {
	return r.request(a, "POST", "/v1/c/"+channel+"/promos", encode(map[string]any{"body": body, "usd": usd, "days": days}))
}

func (r *running) buy(t rapidOrTest, a *transcripts.Agent, channel, body string, usd, days int64) promoView {
	t.Helper()
	ans := r.send(r.buying(a, channel, body, usd, days))
	if ans.Status != 201 {
		t.Fatalf("buying a promo: got %d %s, want 201", ans.Status, ans.Body)
	}
	return viewOf(t, ans)
}

func viewOf(t rapidOrTest, a *transcripts.Answer) (v promoView) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatalf("got %s, which is not a promo: %v", a.Body, err)
	}
	return v
}

func (r *running) promo(t rapidOrTest, a *transcripts.Agent, channel, id string) promoView {
	t.Helper()
	return viewOf(t, r.call(a, "GET", "/v1/c/"+channel+"/promos/"+id, ""))
}

// settle settles a channel's promos, whether due or not.
func (r *running) settle(channel string) error {
	items, err := r.table.Get(r.t.Context(), tables.Strong, tables.BoardKey(channel))
	if err != nil {
		return err
	}
	b, err := tables.ReadBoard(channel, items[0])
	if err != nil || b.Due == 0 {
		return err
	}
	var taken *tables.Cancelled // by another settlement, so it is due already
	if err := r.App.Once(r.t.Context(), b.Take(r.App.Now())); err != nil && !errors.As(err, &taken) {
		return err
	}
	return settle.New(r.App).Handle(r.t.Context())
}

// midway moves a promo's start so that half of its time has passed and it is behind its pace. The
// last billing is set to now, so that a settlement does not end the promo as unbilled.
func (r *running) midway(channel string, p promoView) {
	r.t.Helper()
	now := r.App.Now().UnixMilli()
	half := p.EndsAt - now
	r.set(tables.PromoKey(channel, p.ID), tables.SetAttr("created_at", now-half), tables.SetAttr("billed_at", now))
}

func TestRaceOfReaders(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		ad := r.join("ad")
		r.credit(ad, 5*usd)
		p := r.buy(t, ad, "lounge", "Look here.", 5, 2)
		r.midway("lounge", p)
		var pages []*transcripts.Request
		var readers []*transcripts.Agent
		for i := range r.rounds() {
			reader := r.grown(r.join(fmt.Sprintf("reader-%d", i)))
			readers = append(readers, reader)
			for range 2 {
				pages = append(pages, r.request(reader, "GET", "/v1/c/lounge", ""))
			}
		}
		for i := range 20 { // readers whose impressions are not billed
			pages = append(pages, r.request(nil, "GET", "/v1/c/lounge", ""), r.request(ad, "GET", "/v1/c/lounge?limit="+strconv.Itoa(i+1), ""))
		}
		var answers []*transcripts.Answer
		for some := range slices.Chunk(pages, 60) { // more would wait too long for DynamoDB Local
			got, byStatus := r.together(some...)
			if byStatus[200] != len(some) {
				t.Fatalf("pages: got outcomes %v, want %d × 200", byStatus, len(some))
			}
			answers = append(answers, got...)
		}
		for i, a := range answers {
			if a.Text("promo.id") != p.ID {
				t.Errorf("promo of page %d: got %q, want %q", i, a.Text("promo.id"), p.ID)
			}
		}
		counted, marked := int64(0), 0
		for _, key := range tables.CountsKeys("lounge") {
			counted += tables.Billed(r.item(key), p.ID)
		}
		for _, reader := range readers {
			if tables.WasShown(r.item(tables.ShownKey("the person behind "+reader.Name, "lounge", r.App.Now())), p.ID) {
				marked++
			}
		}
		if n := len(readers); counted != int64(n) || marked != n {
			t.Errorf("billed impressions, and readers marked as having seen the promo: got %d and %d, want %d of each", counted, marked, n)
		}
		if err := r.settle("lounge"); err != nil {
			t.Fatal(err)
		}
		got := r.promo(t, ad, "lounge", p.ID)
		if want := int64(len(readers)); got.Impressions != want || got.Spent != want*2000 || got.State != "live" {
			t.Errorf("promo: got %+v, want it live, %d impressions and %d spent", got, want, want*2000)
		}
		r.audited(t)
	})
}

// Only two buyers succeed. Each pays the price at the time of its purchase.
func TestRaceForTheLastPlaces(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		for i := range tables.PromosMost - 2 {
			ad := r.grown(r.join(fmt.Sprintf("ad-%d", i)))
			r.credit(ad, 5*usd)
			r.buy(t, ad, "lounge", fmt.Sprintf("Number %d.", i), 5, 1)
		}
		var all []*transcripts.Request
		var buyers []*transcripts.Agent
		for i := range min(30, r.rounds()) {
			a := r.grown(r.join(fmt.Sprintf("buyer-%d", i)))
			r.credit(a, 100*usd)
			buyers = append(buyers, a)
			all = append(all, r.buying(a, "lounge", fmt.Sprintf("Mine, %d.", i), 100, 1))
		}
		answers, byStatus := r.settled(all...)
		if byStatus[201] != 2 || byStatus[409] != len(all)-2 {
			t.Errorf("purchases: got outcomes %v, want 2 × 201 and 409 for the others", byStatus)
		}
		for i, a := range answers {
			if a.Status == 409 && (a.Text("error.code") != "limit_reached" || a.Text("error.retry_at") == "" || !strings.Contains(a.Text("error.hint"), "another channel")) {
				t.Errorf("purchase %d: got %s, want limit_reached with a time and a hint at another channel", i, a.Body)
			}
		}
		items := r.query(tables.ChannelPK("lounge"), "PROMO#", "PROMO#~")
		if len(items) != tables.PromosMost {
			t.Fatalf("live promos: got %d, want %d", len(items), tables.PromosMost)
		}
		prices := map[int64]int{}
		for _, item := range items {
			var p tables.Promo
			if err := tables.Unmarshal(item, &p); err != nil {
				t.Fatal(err)
			}
			if p.Budget == 100*usd {
				prices[p.Price]++
			}
		}
		const first = 2000 + 18*100 // micro-USD: 18 promos of 5 USD a day
		if prices[first] != 1 || prices[first+2000] != 1 {
			t.Errorf("prices of the last two: got %v, want %d and %d", prices, first, first+2000)
		}
		spent := 0
		for _, a := range buyers {
			switch r.credits(t, a) {
			case 0:
				spent++
			case 100 * usd:
			default:
				t.Errorf("balance of %s: got %d, want all or nothing spent", a.Name, r.credits(t, a))
			}
		}
		if spent != 2 {
			t.Errorf("charged buyers: got %d, want 2", spent)
		}
		r.audited(t)
	})
}

// Agents of one person share the limit of promos in a channel. A later change of origin does not
// matter.
func TestRaceOfOneBuyer(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		person := &tables.Origin{Person: "one person"}
		agents := []*transcripts.Agent{r.setOwner(r.join("fox"), person), r.setOwner(r.join("vixen"), person)}
		held := func() (n int64) { return r.credits(t, agents[0]) + r.credits(t, agents[1]) }
		var all []*transcripts.Request
		for i := range min(30, r.rounds()) {
			a := agents[i%2]
			r.credit(a, 5*usd)
			all = append(all, r.buying(a, "lounge", fmt.Sprintf("Number %d.", i), 5, 1))
		}
		before := held()
		answers, _ := r.settled(all...)
		const most = tables.PromosOfBuyerMost
		r.decided(0, answers, outcomes{"201": most, "409 limit_reached": len(all) - most})
		if paid := before - held(); paid != most*5*usd {
			t.Errorf("paid: got %d, want %d", paid, most*5*usd)
		}
		if n := len(r.query(tables.ChannelPK("lounge"), "PROMO#", "PROMO#~")); n != most {
			t.Errorf("live promos: got %d, want %d", n, most)
		}
		owl := r.join("owl")
		r.credit(owl, 5*usd)
		r.buy(t, owl, "lounge", "Somebody else's.", 5, 1)
		for _, a := range agents {
			r.credit(a, 10*usd)
			r.buy(t, a, "golang", "Elsewhere, by "+a.Name+".", 5, 1)
			r.setOwner(a, &tables.Origin{Person: "another person, behind " + a.Name})
		}
		third := r.join("third") // of the same person
		r.setOwner(third, person)
		r.credit(third, 5*usd)
		r.want(r.send(r.buying(third, "lounge", "A fourth.", 5, 1)), 409, "limit_reached")
		r.audited(t)
	})
}

// Agents without an origin share five places in a channel, one each.
func TestRaceOfNobodies(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		var agents []*transcripts.Agent
		var all []*transcripts.Request
		for i := range min(15, r.rounds()) {
			a := r.join(fmt.Sprintf("nobody-%d", i))
			r.credit(a, 10*usd)
			agents = append(agents, a)
			for _, body := range []string{"Mine", "Mine too"} {
				all = append(all, r.buying(a, "lounge", fmt.Sprintf("%s, %d.", body, i), 5, 1))
			}
		}
		answers, byStatus := r.settled(all...)
		const most = tables.PromosNobodysMost
		if byStatus[201] != most || byStatus[409] != len(all)-most {
			t.Errorf("purchases: got outcomes %v, want %d × 201 and 409 for the others", byStatus, most)
		}
		for i, a := range answers {
			if a.Status == 409 && (a.Text("error.code") != "limit_reached" || a.Text("error.retry_at") == "") {
				t.Errorf("purchase %d: got %s, want limit_reached with a time", i, a.Body)
			}
		}
		for _, a := range agents {
			if has := r.credits(t, a); has != 10*usd && has != 5*usd {
				t.Errorf("balance of %s: got %d, want at most one promo paid", a.Name, has)
			}
		}
		if n := len(r.query(tables.ChannelPK("lounge"), "PROMO#", "PROMO#~")); n != most {
			t.Errorf("live promos: got %d, want %d", n, most)
		}
		owl := r.grown(r.join("owl"))
		r.credit(owl, 5*usd)
		r.buy(t, owl, "lounge", "Somebody's.", 5, 1)
		r.audited(t)
	})
}

// The audit finds an escrow that does not match its promo, live or past.
func TestAuditFindsWrongEscrow(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	r.call(nil, "GET", "/v1/channels", "")
	ad := r.grown(r.join("ad"))
	r.credit(ad, 10*usd)
	live, past := r.buy(t, ad, "lounge", "One.", 5, 2), r.buy(t, ad, "lounge", "Two.", 5, 2)
	r.put((&tables.Promo{Channel: "lounge", ID: past.ID}).Remove("ca_1", r.App.Now()))
	if err := r.settle("lounge"); err != nil {
		t.Fatal(err)
	}
	if got, left := r.promo(t, ad, "lounge", past.ID), r.credits(t, ad); got.State != "removed" || got.Returned != 5*usd || left != 5*usd {
		t.Fatalf("promo: got %+v and %d credits, want it removed and 5 USD returned", got, left)
	}
	r.audited(t)
	for what, w := range map[string]struct {
		key    tables.Key
		attr   string
		value  int64
		expect string
	}{
		"impressions":          {tables.PromoKey("lounge", live.ID), "impressions", 3, "its escrow is 5000000, and its promo has 4994000 left"},
		"too many impressions": {tables.PromoKey("lounge", live.ID), "impressions", 2501, "it spent 5002000 of a budget of 5000000"},
		"what was returned":    {tables.PastPromoKey("lounge", past.ID), "returned", 7, "it returned 7, but 5000000 was left"},
		"an escrow":            {tables.BalanceKey(tables.EscrowAccount(past.ID)), "micro_usd", 9, "its escrow is 9, and its promo has 0 left"},
	} {
		was := r.item(w.key)
		r.set(w.key, tables.SetAttr(w.attr, w.value))
		report, err := books.Audit(t.Context(), r.table.(tables.Scanner), r.App.Now())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(report.Problems, func(p books.Problem) bool { return strings.Contains(p.String(), w.expect) }) {
			t.Errorf("%s: got problems %v, want %q", what, report.Problems, w.expect)
		}
		r.set(w.key, tables.SetAttr(w.attr, was[w.attr]))
	}
	key := tables.PromoKey("lounge", live.ID)
	was := r.item(key)
	r.put(tables.Delete(key))
	report, err := books.Audit(t.Context(), r.table.(tables.Scanner), r.App.Now())
	if err != nil || len(report.Problems) != 1 || !strings.Contains(report.Problems[0].String(), "there is no such promo") {
		t.Errorf("an escrow without its promo: got problems %v, %v; want only 'there is no such promo'", report.Problems, err)
	}
	r.put(tables.Put(was))
	r.audited(t)
}
