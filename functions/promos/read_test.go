package promos

import (
	"crypto/rand"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func TestEither_WhileItEnds(t *testing.T) {
	table, err := embedded.Open(embedded.Config{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	g := promos{&app.App{Table: table, Now: time.Now, Rand: rand.Reader}}
	live := &tables.Promo{ID: "pr_1", Channel: "lounge", State: tables.PromoLive}
	past := *live
	past.State, past.EndedAt = tables.PromoExpired, 1
	state := func(seen ...tables.Item) string {
		p, err := g.either(t.Context(), "lounge", "pr_1", seen[0], seen[1])
		if err != nil {
			t.Fatal(err)
		}
		if p == nil {
			return ""
		}
		return p.State
	}
	if got := state(nil, nil); got != "" {
		t.Errorf("missing promo: got state %q, want none", got)
	}
	if err := g.Once(t.Context(), tables.Put(past.Item())); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		live, past tables.Item
		want       string
	}{
		"live":    {live.Item(), nil, tables.PromoLive},
		"past":    {nil, past.Item(), tables.PromoExpired},
		"both":    {live.Item(), past.Item(), tables.PromoExpired},
		"neither": {nil, nil, tables.PromoExpired},
	} {
		if got := state(c.live, c.past); got != c.want {
			t.Errorf("read saw %s: got state %q, want %q", name, got, c.want)
		}
	}
}
