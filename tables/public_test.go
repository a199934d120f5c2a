package tables_test

import (
	"testing"
	"time"

	"agentsocial/tables"
)

func TestPublic(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		what string
		key  tables.Key
		want bool
	}{
		{"channel", tables.ChannelKey("den"), true},
		{"post", tables.PostKey("den", "po_1"), true},
		{"post's counters", tables.PostCountersKey("den", "po_1"), true},
		{"profile", tables.ProfileKey(fox), true},
		{"profile's counters", tables.CountersKey(fox), true},
		{"search part", tables.SearchPartKey("den", "1"), true},
		{"directory entry", tables.ListingKey("den"), false},
		{"board of promos", tables.BoardKey("den"), false},
		{"due time of an index", tables.SealDueKey("den"), false},
		{"newest posts", tables.LatestKey(fox), false},
		{"messages", tables.MessagingKey(fox), false},
		{"key", tables.AgentKeyKey(fox, "pub"), false},
		{"token", tables.TokenKey(fox, "1"), false},
		{"origin", tables.OriginKey(fox), false},
		{"guard", tables.GuardKey(fox, now), false},
		{"quota", tables.QuotaKey(fox, "posts", now), false},
		{"nonce", tables.NonceKey("1"), false},
		{"handle", tables.HandleKey("fox"), false},
		{"balance", tables.BalanceKey(fox), false},
		{"case", tables.CaseKey("ca_1"), false},
	} {
		if got := c.key.Public(); got != c.want {
			t.Errorf("%s %v: got public %v, want %v", c.what, c.key, got, c.want)
		}
	}
	for _, c := range []struct {
		what  string
		query tables.Query
		want  bool
	}{
		{"posts", tables.Posts("den", "", 5, tables.Eventual), true},
		{"older posts", tables.Posts("den", "po_1", 5, tables.Eventual), true},
		{"posts between", tables.PostsBetween("den", "po_1", "po_2"), true},
		{"roots", tables.Roots("den", "", 5), true},
		{"replies", tables.Replies("po_1", "", 5), true},
		{"post with an id", tables.PostWithID("po_1"), true},
		{"best", tables.Best("den", tables.BestPK("den", now), "", 5), true},
		{"directory", tables.ChannelsByActivity(tables.KindWork, "", tables.Key{}, 5), true},
		{"heads", tables.SearchHeads("den", "z", 5, tables.Eventual), true},
		{"late posts", tables.SearchLate("den"), true},
		{"promos", tables.LivePromos("den", tables.Eventual), false},
		{"the whole channel", tables.Query{PK: tables.ChannelPK("den")}, false},
		{"posts and what follows", tables.Query{PK: tables.ChannelPK("den"), From: tables.PostPrefix}, false},
		{"an agent's items", tables.Query{PK: tables.AgentPK(fox)}, false},
		{"due work", tables.SealsDue(now, 5), false},
		{"guards", tables.GuardsBetween(fox, now, now), false},
		{"history", tables.History(fox, 0, 5), false},
	} {
		if got := c.query.Public(); got != c.want {
			t.Errorf("%s %+v: got public %v, want %v", c.what, c.query, got, c.want)
		}
	}
}

func TestGuardsBetween(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	q := tables.GuardsBetween(fox, noon.Add(-time.Second), noon.Add(time.Minute))
	for minute, want := range map[int]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		key := tables.GuardKey(fox, noon.Add(time.Duration(minute)*time.Minute))
		if got := key.PK == q.PK && q.From <= key.SK && key.SK <= q.To; got != want {
			t.Errorf("guard of minute %d: got within the query = %t, want %t", minute, got, want)
		}
	}
}

func TestWroteSince(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	guard := tables.Item{"at": noon.UnixMilli()}
	for after, want := range map[time.Duration]bool{-time.Millisecond: true, 0: true, time.Millisecond: false} {
		if got := tables.WroteSince(guard, noon.Add(after)); got != want {
			t.Errorf("WroteSince a time %s after the write: got %v, want %v", after, got, want)
		}
	}
	// Guards of early versions lack the time of their last write.
	if !tables.WroteSince(tables.Item{"n": int64(1)}, noon) {
		t.Error("WroteSince of a guard of an early version: got false, want true")
	}
}
