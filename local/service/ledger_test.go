package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/checks/books"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// hooked sends an order to the payment stand-in and returns the ID of what it made.
func (r *running) hooked(t rapidOrTest, order map[string]any) string {
	t.Helper()
	a := r.call(nil, "POST", "/_local/payments", encode(order))
	if a.Status != 200 {
		t.Fatalf("%v: got %d %s, want 200", order, a.Status, a.Body)
	}
	return a.Text("id")
}

type rapidOrTest interface {
	Helper()
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func (r *running) credits(t rapidOrTest, a *transcripts.Agent) int64 {
	t.Helper()
	ans := r.call(a, "GET", "/v1/me/credits", "")
	var out struct {
		Balance int64
		Frozen  bool
	}
	if err := json.Unmarshal(ans.Body, &out); err != nil || ans.Status != 200 || out.Frozen != (out.Balance < 0) {
		t.Fatalf("credits: got %d %s, %v; want 200, and frozen if and only if the balance is below zero", ans.Status, ans.Body, err)
	}
	return out.Balance
}

// pays makes the debit of a message in its own transaction.
func (r *running) pays(agent, message string, price int64) (*tables.Movement, error) {
	at, _ := id.Message.Time(message)
	m := &tables.Movement{
		ID: tables.MovementID(time.UnixMilli(at), tables.PaidMessage, message), At: at, Kind: tables.PaidMessage,
		From: tables.AgentAccount(agent), To: tables.Revenue, MicroUSD: price, Subject: tables.Map{"message": message},
	}
	return m, r.App.Transact(r.t.Context(), m.Writes()...)
}

// audited audits the ledger and fails the test for each problem.
func (r *running) audited(t rapidOrTest) *books.Report {
	t.Helper()
	report, err := books.Audit(r.t.Context(), r.table.(tables.Scanner), r.App.Now())
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, p := range report.Problems {
		t.Errorf("%s", p)
	}
	return report
}

func TestRaceOfDebits(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		const price = 1_230_000
		fox := r.join("fox")
		bought := &tables.Movement{
			ID: tables.MovementID(r.moment(), tables.Bought, "cs_1"), At: r.moment().UnixMilli(), Kind: tables.Bought,
			From: tables.Processor, To: tables.AgentAccount(fox.ID), MicroUSD: 10*price + price/2,
		}
		r.put(bought.Writes()...)
		var mu sync.Mutex
		n := map[tables.Obstacle]int{}
		atOnce(50, func(int) {
			move, err := r.pays(fox.ID, id.Message.New(r.moment(), r.App.Rand), price)
			for errors.Is(err, tables.ErrConflict) {
				err = r.App.Transact(context.WithoutCancel(t.Context()), move.Writes()...)
			}
			not := &tables.NotMoved{}
			if err != nil && !errors.As(err, &not) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			n[not.Why]++
		})
		if n[0] != 10 || n[tables.Insufficient] != 40 || r.credits(t, fox) != price/2 {
			t.Errorf("got outcomes %v, %d left; want 10 made, 40 insufficient, %d left", n, r.credits(t, fox), price/2)
		}
		r.audited(t)
	})
}

// The stream adds each movement once to its day's sums, however it is delivered.
func TestDailySums(t *testing.T) {
	t.Parallel()
	faults := service.StreamFaults{Redeliver: 0.3, Shuffle: 0.5, Split: 0.3, Crash: 0.1}
	onBothStreaming(t, service.Config{Settings: generous(), StreamFaults: faults}, func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		for _, a := range []*transcripts.Agent{fox, owl} {
			link := r.call(a, "POST", "/v1/me/credits/checkout", `{"usd": 10}`).Text("url")
			r.hooked(t, map[string]any{"do": "pay", "checkout": link, "method": "card"})
			r.drain()
			for range 30 {
				if _, err := r.pays(a.ID, id.Message.New(r.moment(), r.App.Rand), 1000); err != nil {
					t.Fatal(err)
				}
			}
			r.hooked(t, map[string]any{"do": "refund", "checkout": link, "cents": 100})
		}
		r.drain()
		report := r.audited(t)
		day := r.App.Now().UTC().Format("20060102")
		if n := report.Days[tables.Revenue][day]; n != 60_000 || report.Uncounted != 0 {
			t.Errorf("revenue of the day: got %d, and %d movements not counted; want 60000 and 0", n, report.Uncounted)
		}
		if n := report.Days[tables.Processor][day]; n != -18_000_000 {
			t.Errorf("sum of the processor: got %d, want -18000000", n)
		}
		if a := r.call(nil, "GET", "/_local/dead", ""); a.Text("len") != "0" {
			t.Errorf("dead letters: got %s, want none", a.Body)
		}
	})
}

// afterwards runs a function after the first scan of a table.
type afterwards struct {
	tables.Scanner
	do func()
}

func (a *afterwards) Scan(ctx context.Context, visit func(tables.Item) error) error {
	err := a.Scanner.Scan(ctx, visit)
	if do := a.do; do != nil {
		a.do = nil
		do()
	}
	return err
}

func TestAuditFindsDamage(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		link := r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 10}`).Text("url")
		r.hooked(t, map[string]any{"do": "pay", "checkout": link, "method": "card"})
		r.hooked(t, map[string]any{"do": "refund", "checkout": link, "cents": 100})
		r.drain()
		paid, err := r.pays(fox.ID, id.Message.New(r.moment(), r.App.Rand), 1000)
		if err != nil {
			t.Fatal(err)
		}
		r.drain()
		r.audited(t)
		account := tables.AgentAccount(fox.ID)
		movement := tables.MovementKey(account, paid.ID)
		for what, w := range map[string]struct {
			key    tables.Key
			attr   string
			value  any
			expect string
		}{
			"a balance":            {tables.BalanceKey(account), "micro_usd", int64(8_999_001), "its balance is 8999001, its movements come to 8999000"},
			"a balance below zero": {tables.BalanceKey(account), "micro_usd", int64(-1_000_001), "its balance is -1000001, and the processor took back 1000000"},
			"a movement's amount":  {movement, "micro_usd", int64(2000), "its movements come to 8998000"},
			"a movement's side":    {movement, "to", "processor", "the stored sum is 1000, but the counted movements come to 0"},
			"a movement to itself": {movement, "to", string(account), "is not a valid movement"},
			"a sum":                {paid.DaySumKey(), "micro_usd", int64(1001), "the stored sum is 1001, but the counted movements come to 1000"},
			"a mark of counting":   {movement, "counted", false, "but the counted movements come to 0"},
			"an item of no type":   {movement, "type", "other", "does not belong in the ledger"},
			"nobody's balance":     {tables.ProfileKey(fox.ID), "type", "other", fox.ID + ": it has a balance, and there is no such agent"},
			"a movement's kind":    {movement, "kind", tables.Refunded, paid.ID + `: a movement of kind "refunded" may not go from "` + fox.ID + `" to "revenue"`},
			"an unknown kind":      {movement, "kind", "gift", paid.ID + `: a movement of kind "gift" may not go from`},
			"uncounted for long":   {movement, "counted", false, paid.ID + ": it was made at " + time.UnixMilli(paid.At).UTC().Format(time.RFC3339) + " and is not yet in a sum"},
		} {
			items, err := r.table.Get(t.Context(), tables.Strong, w.key)
			if err != nil || items[0] == nil {
				t.Fatalf("%s: before the damage: got %v, error %v; want an item", what, items, err)
			}
			r.set(w.key, tables.SetAttr(w.attr, w.value))
			report, err := books.Audit(t.Context(), r.table.(tables.Scanner), r.App.Now().Add(time.Hour+time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(report.Problems, func(p books.Problem) bool { return strings.Contains(p.String(), w.expect) }) {
				t.Errorf("%s: got problems %v, want %q", what, report.Problems, w.expect)
			}
			r.set(w.key, tables.SetAttr(w.attr, items[0][w.attr]))
		}
		r.audited(t)
		r.set(tables.BalanceKey(account), tables.SetAttr("micro_usd", int64(-1_000_000))) // the amount taken back
		if report, err := books.Audit(t.Context(), r.table.(tables.Scanner), r.App.Now()); err != nil ||
			slices.ContainsFunc(report.Problems, func(p books.Problem) bool { return strings.Contains(p.What, "took back") }) {
			t.Errorf("a balance of minus the amount taken back: got %v %v, want no problem that says \"took back\"", report, err)
		}
		r.set(tables.BalanceKey(account), tables.SetAttr("micro_usd", int64(8_999_000)))
		r.set(movement, tables.SetAttr("counted", false))
		if report, err := books.Audit(t.Context(), r.table.(tables.Scanner), r.App.Now().Add(time.Minute)); err != nil || report.Uncounted != 1 ||
			slices.ContainsFunc(report.Problems, func(p books.Problem) bool { return p.Where == paid.ID }) {
			t.Errorf("a movement not counted for a minute: got %v %v, want 1 uncounted and no problem at %s", report, err, paid.ID)
		}
		r.set(movement, tables.SetAttr("counted", true))

		// If an audit finds problems, Settled repeats it and keeps only the problems whose
		// amounts are unchanged. A movement between two audits causes no problem.
		r.set(tables.BalanceKey(account), tables.Add("micro_usd", 7))
		r.set(paid.DaySumKey(), tables.Add("micro_usd", 5))
		report, err := books.Settled(t.Context(), &afterwards{r.table.(tables.Scanner), func() {
			if _, err := r.pays(fox.ID, id.Message.New(r.moment(), r.App.Rand), 1000); err != nil {
				t.Error(err)
			}
			r.set(paid.DaySumKey(), tables.Add("micro_usd", -5))
		}}, r.App.Now())
		if err != nil || len(report.Problems) != 2 || report.Problems[1].Where != "all accounts" || report.Problems[0].Where != fox.ID {
			t.Errorf("got %v, %v; want the balance and the sum of all accounts as problems", report, err)
		}
	})
}
