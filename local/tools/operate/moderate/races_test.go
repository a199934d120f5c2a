package moderate

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

// onBoth runs a test on the embedded table and on DynamoDB Local.
func onBoth(t *testing.T, test func(*testing.T, tables.Backend)) {
	t.Run("embedded", func(t *testing.T) {
		table, err := embedded.Open(embedded.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		test(t, table)
	})
	t.Run("dynamodb", func(t *testing.T) { test(t, retry.Over(dynamo.Open(dynamodbtest.Streaming(t)), rand.Int64N)) })
}

func commit(t *testing.T, table tables.Backend, writes ...tables.Write) {
	t.Helper()
	if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
		t.Fatal(err)
	}
}

func do(t *testing.T, table tables.Backend, verb string, env map[string]string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	d := Open(table, time.Now, func(name string) string { return env[name] }, &out)
	d.wait = func(context.Context, time.Duration) {}
	err := Verbs[verb](t.Context(), d)
	return out.String(), err
}

func acts(t *testing.T, table tables.Backend) []tables.Item {
	t.Helper()
	page, err := table.Query(t.Context(), tables.Acts(100))
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

func together(fs ...func()) {
	var work sync.WaitGroup
	for _, f := range fs {
		work.Go(f)
	}
	work.Wait()
}

var owl = tables.Author{ID: "ag_01j9z3k4m5n6p7q8r9s0t1v2w3", Handle: "owl"}

const (
	elkID  = "ag_01j9z3k4m5n6p7q8r9s0t1v2w4"
	postID = "po_01j9z3k4m5n6p7q8r9s0t1v2w3"
)

func TestTakedown_RacesWithDeletion(t *testing.T) {
	onBoth(t, func(t *testing.T, table tables.Backend) {
		p := &tables.Post{ID: postID, Channel: "den", Author: owl, Body: "secret", CreatedAt: 1}
		commit(t, table, tables.Put(p.Item()), tables.Put(p.CountersItem()))
		env := map[string]string{"WHAT": "c/den/posts/" + postID, "REASON": "spam", "OPERATOR": "ann"}
		deleted := false
		operator := func() {
			if _, err := do(t, table, "takedown", env); err != nil {
				t.Error(err)
			}
		}
		together(operator, operator, func() {
			err := table.Commit(t.Context(), tables.Tx{Token: "delete", Writes: []tables.Write{p.Tombstone(time.Now()), p.Unrank()}})
			deleted = err == nil
			var lost *tables.Cancelled
			if err != nil && !errors.As(err, &lost) && !errors.Is(err, tables.ErrConflict) {
				t.Error(err)
			}
		})
		operator()
		items, err := table.Get(t.Context(), tables.Strong, tables.PostKey("den", postID))
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if deleted {
			want = 0
		}
		if got := acts(t, table); len(got) != want || items[0].Str("body") != "" || (items[0].Str("taken") != "") == deleted {
			t.Errorf("deleted by its author: %t; got %d records and %v; want %d records, no text, and the post taken: %t", deleted, len(got), items[0], want, !deleted)
		}
	})
}

func TestTakedown_RacesWithMessage(t *testing.T) {
	onBoth(t, func(t *testing.T, table tables.Backend) {
		elk := tables.Author{ID: elkID, Handle: "elk"}
		commit(t, table, tables.Put((&tables.Profile{ID: owl.ID}).Item()), tables.Put((&tables.Profile{ID: elkID}).Item()))
		m := &tables.Message{ID: "msg_01j9z3k4m5n6p7q8r9s0t1v2w3", From: owl, To: elkID, Body: "secret", CreatedAt: 1}
		commit(t, table, m.Send(elk, "secret", nil)...)
		next := &tables.Message{ID: "msg_01j9z3k4m5n6p7q8r9s0t1v2w4", From: owl, To: elkID, Body: "hello", CreatedAt: 2}
		env := map[string]string{"WHAT": "dm/" + elkID + "/" + owl.ID + "/" + m.ID, "REASON": "security", "OPERATOR": "ann"}
		together(
			func() {
				if _, err := do(t, table, "takedown", env); err != nil {
					t.Error(err)
				}
			},
			func() {
				for { // as a request does after a conflict
					err := table.Commit(t.Context(), tables.Tx{Token: "send", Writes: next.Send(elk, "hello", nil)})
					if err == nil {
						return
					}
					if !errors.Is(err, tables.ErrConflict) {
						t.Error(err)
						return
					}
				}
			},
		)
		items, err := table.Get(t.Context(), tables.Strong, tables.MessageKey(owl.ID, elkID, m.ID),
			tables.ConversationKey(owl.ID, elkID), tables.ConversationKey(elkID, owl.ID))
		if err != nil {
			t.Fatal(err)
		}
		if items[0].Str("body") != "" || items[1].Str("preview") != "hello" || items[2].Str("preview") != "hello" || len(acts(t, table)) != 1 {
			t.Errorf("got %v and %d records, want no body, two previews of the later message, and one record", items, len(acts(t, table)))
		}
	})
}

func TestSuspend_RacesWithLift(t *testing.T) {
	onBoth(t, func(t *testing.T, table tables.Backend) {
		commit(t, table, tables.Put((&tables.Profile{ID: owl.ID, Handle: "owl", State: tables.StateActive}).Item()),
			tables.Put(tables.CountersItem(owl.ID, &tables.Counters{})))
		run := func(verb string) func() {
			return func() {
				if _, err := do(t, table, verb, map[string]string{"AGENT": owl.ID, "DAYS": "3", "REASON": "spam", "OPERATOR": "ann"}); err != nil {
					t.Error(err)
				}
			}
		}
		together(run("suspend"), run("lift"), run("suspend"), run("lift"))
		items, err := table.Get(t.Context(), tables.Strong, tables.ProfileKey(owl.ID))
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, act := range acts(t, table) {
			n[act.Str("do")]++
		}
		suspended := 0
		if items[0].Int("suspended_until") != 0 {
			suspended = 1
		}
		if n[tables.ActSuspend]-n[tables.ActLift] != suspended || n[tables.ActSuspend] == 0 {
			t.Errorf("got records %v, suspended until %d; want at least one suspension, and as many lifts, or one lift fewer if still suspended", n, items[0].Int("suspended_until"))
		}
	})
}

func TestTakedown_RacesWithSettlement(t *testing.T) {
	onBoth(t, func(t *testing.T, table tables.Backend) {
		p := &tables.Promo{ID: "pr_01j9z3k4m5n6p7q8r9s0t1v2w3", Channel: "den", Buyer: owl, Body: "secret", Budget: 1, Price: 1, Impressions: 1, State: tables.PromoRemoved}
		commit(t, table, tables.Put(p.Item()))
		env := map[string]string{"WHAT": "c/den/promos/" + p.ID, "REASON": "illegal", "OPERATOR": "ann"}
		read := *p // what the settlement read before the takedown
		if _, err := do(t, table, "takedown", env); err != nil {
			t.Fatal(err)
		}
		err := table.Commit(t.Context(), tables.Tx{Token: "end", Writes: read.End(tables.PromoRemoved, 5)})
		var lost *tables.Cancelled
		if !errors.As(err, &lost) {
			t.Fatalf("the settlement of a promo read before the takedown: got error %v, want it cancelled", err)
		}
		items, err := table.Get(t.Context(), tables.Strong, p.Item().Key())
		if err != nil {
			t.Fatal(err)
		}
		var now tables.Promo
		if err := tables.Unmarshal(items[0], &now); err != nil {
			t.Fatal(err)
		}
		commit(t, table, now.End(tables.PromoRemoved, 5)...)
		if items, err = table.Get(t.Context(), tables.Strong, tables.PastPromoKey("den", p.ID)); err != nil || items[0].Str("body") != "" || items[0].Str("taken") != "illegal" {
			t.Errorf("got the past promo %v, error %v; want no text, and taken as illegal", items, err)
		}
		if out, err := do(t, table, "takedown", env); err != nil || !strings.Contains(out, "gone already") {
			t.Errorf("a second takedown: got output %q, error %v; want the text gone already", out, err)
		}
	})
}

func TestErase_RacesWithItself(t *testing.T) {
	onBoth(t, func(t *testing.T, table tables.Backend) {
		p := &tables.Profile{ID: owl.ID, Handle: "owl", State: tables.StateActive, Epoch: 1}
		commit(t, table, tables.Put(p.Item()), tables.HandleClaim("owl", owl.ID))
		operator := func() {
			out, err := do(t, table, "erase", map[string]string{"AGENT": owl.ID, "REASON": "privacy", "OPERATOR": "ann"})
			if err != nil || !strings.Contains(out, "is erased") {
				t.Errorf("erase: got output %q, error %v; want the agent erased", out, err)
			}
		}
		itself := false
		together(operator, operator, func() {
			err := table.Commit(t.Context(), tables.Tx{Token: "erase", Writes: p.Erase(nil, time.Now(), nil)})
			itself = err == nil
			var lost *tables.Cancelled
			if err != nil && !errors.As(err, &lost) && !errors.Is(err, tables.ErrConflict) {
				t.Error(err)
			}
		})
		items, err := table.Get(t.Context(), tables.Strong, tables.ProfileKey(owl.ID))
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if itself {
			want = 0
		}
		if got := acts(t, table); len(got) != want || items[0].Str("state") != tables.StateErased || items[0].Int("epoch") != 2 {
			t.Errorf("the agent erased itself: %t; got %d records and %v, want %d records, state erased and epoch 2", itself, len(got), items[0], want)
		}
	})
}
