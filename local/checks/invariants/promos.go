package invariants

import (
	"slices"

	"agentsocial/tables"
)

// promos checks that a channel's board lists exactly the promos that have not ended, and
// that each promo is in its buyer's history. Package books checks their money.
func promos(w *world) error {
	promos, err := all[tables.Promo](w, tables.TypePromo, tables.TypePastPromo)
	if err != nil {
		return err
	}
	started := map[string]bool{}
	for _, item := range w.types[tables.TypeHistory] {
		subject, _ := item["subject"].(tables.Map)
		if id, ok := subject["promo"].(string); ok && item.Str("kind") == tables.HistoryPromoStarted {
			started[id] = true
		}
	}
	live, ends := map[string][]string{}, counts{}
	for _, p := range promos {
		if !started[p.ID] && !w.erased(p.Buyer.ID) {
			w.problem(p.ID, "it is missing in its buyer's history")
		}
		if (p.State == tables.PromoLive || p.State == tables.PromoRemoved && p.EndedAt == 0) != (p.EndedAt == 0) {
			w.problem(p.ID, "its state is %s, but the time of its end is %d (0: none)", p.State, p.EndedAt)
		}
		if p.EndedAt == 0 {
			live[p.Channel] = append(live[p.Channel], p.ID)
			ends[p.Channel] = max(ends[p.Channel], p.EndsAt)
		}
	}
	for _, item := range w.types[tables.TypeChannel] {
		channel := item.Str("name")
		board := w.items[tables.BoardKey(channel)]
		listed := attrs(board, "p:")
		if there := slices.Sorted(slices.Values(live[channel])); !slices.Equal(listed, there) {
			w.problem(channel, "its board lists %v, want %v", listed, there)
		}
		if due := board.Str("rank_pk") != "" && board.Int("at") != 0; due != (len(listed) > 0) {
			w.problem(channel, "its board has %d promos, but a time of settlement: %v", len(listed), due)
		}
		if at := board.Int("at"); at != 0 && at <= w.now.UnixMilli() {
			w.problem(channel, "its settlement was due at %d", at)
		}
		w.same(channel, "the time until which it may have promos", item.Int("promos_until"), ends[channel])
	}
	return nil
}
