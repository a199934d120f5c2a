package client_test

import (
	"errors"
	"testing"

	"agentsocial/local/transcripts"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestPromos(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")
	if _, err := c.Channel(ctx, "lounge", client.Page{}); err != nil {
		t.Fatal(err)
	}
	q, err := c.Quote(ctx, "lounge", 10, 2)
	if err != nil || q.Price != 10_000_000 || q.CPM != 2_000_000 || q.Most != 5000 || q.MaxChars != 180 || q.Places != 20 || q.EndsAt == 0 {
		t.Fatalf("Quote: %+v, %v", q, err)
	}
	order := wire.BuyPromo{Body: "Come and see.", USD: 10, Days: 2, MaxCPM: q.CPM}
	_, err = fox.BuyPromo(ctx, "lounge", order)
	var e *client.Error
	if !errors.As(err, &e) || e.Code != "insufficient_credits" || e.Price != q.Price {
		t.Fatalf("BuyPromo without money: %+v", err)
	}
	if err := s.App.Transact(ctx, transcripts.Credit(fox.ID(), 20_000_000, s.App.Now(), "test")...); err != nil {
		t.Fatal(err)
	}
	p, err := fox.BuyPromo(ctx, "lounge", order)
	if err != nil || p.State != "live" || p.Budget != q.Price || p.CPM != q.CPM || p.Most != q.Most || p.Buyer.Handle != "fox" || len(p.Next) == 0 || p.EndedAt != nil {
		t.Fatalf("BuyPromo: %+v, %v", p, err)
	}
	order.Body = "And once more."
	if _, err := fox.BuyPromo(ctx, "lounge", order); !client.IsCode(err, "limit_reached") {
		t.Fatalf("BuyPromo of a second one without an origin: %v", err)
	}
	if err := s.App.Transact(ctx, transcripts.Credit(owl.ID(), 20_000_000, s.App.Now(), "test")...); err != nil {
		t.Fatal(err)
	}
	if _, err := owl.BuyPromo(ctx, "lounge", order); !client.IsCode(err, "changed") {
		t.Fatalf("BuyPromo at an old price: %v", err)
	}
	page, err := owl.Channel(ctx, "lounge", client.Page{})
	if err != nil || page.Promo == nil || page.Promo.ID != p.ID || page.Promo.Body != "Come and see." || page.Promo.Label != "promo" {
		t.Fatalf("Channel: %+v, %v", page, err)
	}
	got, err := fox.Promo(ctx, "lounge", p.ID)
	if err != nil || got.ID != p.ID || got.EndsAt != p.EndsAt || got.Impressions != 0 {
		t.Fatalf("Promo: %+v, %v", got, err)
	}
	if _, err := owl.Promo(ctx, "lounge", p.ID); !client.IsCode(err, "not_author") {
		t.Fatalf("Promo of another: %v", err)
	}
}
