package promos

import (
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

func TestMeasuredDays_OneToSeven(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]float64{
		0: 1, 12 * time.Hour: 1, 24 * time.Hour: 1, 36 * time.Hour: 1.5, 72 * time.Hour: 3, 7 * 24 * time.Hour: 7, 1000 * time.Hour: 7,
	} {
		if got := measuredDays(tables.Item{"created_at": now.Add(-age).UnixMilli()}, now); got != want {
			t.Errorf("a channel created %s ago: got %v days, want %v", age, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for usd, most := range map[int64]int{5: 140, 9: 140, 10: 180, 1_000_000: 700} {
		for n, want := range map[int]bool{most: true, most + 1: false} {
			err := check(&buyIn{Body: wire.NewPromo{Body: strings.Repeat("é", n), USD: usd}})
			if (err == nil) != want {
				t.Errorf("%d characters for %d USD: got error %v, want accepted %t", n, usd, err, want)
			}
		}
	}
}

func TestNoPlace_NamesTheCap(t *testing.T) {
	const nobodys, own, ownAll, channel = "Agents without an origin have", "for an agent without an origin", "for all agents of one person", "The channel"
	for _, c := range []struct{ of, owner, want string }{
		{tables.CapOfNobody, "", nobodys}, {tables.CapOfBuyer, "", own}, {tables.CapOfBuyer, "a", ownAll},
		{tables.CapOfChannel, "", channel}, {tables.CapOfChannel, "a", channel},
	} {
		err := noPlace(&api.Call{Agent: &tables.Profile{Owner: c.owner}}, "lounge", &tables.PromoCap{Of: c.of, Live: 3})
		for _, says := range []string{nobodys, own, ownAll, channel} {
			if strings.Contains(err.Error(), says) != (says == c.want) {
				t.Errorf("cap %s, owner %q: got %q, want it to name only %q", c.of, c.owner, err, c.want)
			}
		}
	}
}

func TestPromoOf(t *testing.T) {
	p := &tables.Promo{Budget: 5_000_000, Price: 2_000}
	if v := promoOf(p); v.EndedAt != nil || v.SettledAt != nil || v.Case != nil || v.CPM != 2_000_000 {
		t.Errorf("promoOf of a new promo: got %+v, want no end, settlement or case, and 2 USD for a thousand", v)
	}
	p.EndedAt, p.SettledAt, p.Case = 1, 2, "ca_1"
	if v := promoOf(p); v.EndedAt == nil || *v.EndedAt != 1 || v.SettledAt == nil || *v.SettledAt != 2 || v.Case == nil || *v.Case != "ca_1" {
		t.Errorf("promoOf of an ended promo: got %+v, want its times and its case", v)
	}
}
