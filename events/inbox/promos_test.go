package inbox

import (
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

func TestPromos(t *testing.T) {
	f, table := open(t)
	p := tables.Promo{
		ID: "pr_01m7zpvgpq518pwx45sh5x71rp", Channel: "den", Buyer: tables.Author{ID: "ag_01m7zpvgpq518pwx45sh5x71rp"}, Body: "x", Budget: 5_000_000, Price: 2000,
		State: tables.PromoRemoved, CreatedAt: 1, EndsAt: 9, Impressions: 3, Case: "ca_1",
	}
	live := insert(p.Item())
	writes := p.End(p.State, 7)
	past := insert(writes[1].Item)
	filters := New(&app.App{})
	if l, p := filters.Match(live), filters.Match(past); l || !p {
		t.Errorf("filters: got a match for a live promo = %t, for an ended promo = %t; want false and true", l, p)
	}
	for range 2 {
		if err := f.handle(t.Context(), []tables.StreamRecord{past}); err != nil {
			t.Fatal(err)
		}
	}
	if got := events(t, table, strings.TrimPrefix(p.Buyer.ID, "ag_")); !slices.Equal(got, []string{"1 promo_ended"}) {
		t.Errorf("buyer's events: got %q, want one promo_ended", got)
	}
	page, err := table.Query(t.Context(), tables.NewestEvents(p.Buyer.ID, 1))
	if err != nil {
		t.Fatal(err)
	}
	var e tables.InboxEvent
	if err := tables.Unmarshal(page.Items[0], &e); err != nil {
		t.Fatal(err)
	}
	want := tables.Map{"promo": p.ID, "channel": "den", "state": "removed", "case": "ca_1", "impressions": int64(3), "spent_micro_usd": int64(6000), "returned_micro_usd": int64(4_994_000)}
	for name, v := range want {
		if e.Subject[name] != v {
			t.Errorf("subject's %s: got %v, want %v", name, e.Subject[name], v)
		}
	}
	if len(e.Subject) != len(want) || e.HappenedAt != 7 || e.From.ID != "" {
		t.Errorf("event: got %+v, want %d members in the subject, happened at 7, from nobody", e, len(want))
	}
}
