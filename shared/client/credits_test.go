package client_test

import (
	"net/http"
	"strings"
	"testing"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestCredits(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")

	if _, err := fox.Checkout(ctx, 4); !client.IsCode(err, "invalid") {
		t.Fatalf("Checkout of 4 USD: %v", err)
	}
	var pages []*wire.Checkout
	for _, usd := range []int64{5, 25} {
		page, err := fox.Checkout(ctx, usd)
		if err != nil || page.ID == "" || page.USD != usd || !strings.HasPrefix(page.URL, s.URL) || page.ExpiresAt <= s.App.Now().UnixMilli() || len(page.Next) == 0 {
			t.Fatalf("Checkout: %+v, %v", page, err)
		}
		pages = append(pages, page)
	}
	for _, page := range pages { // as its button does
		res, err := http.Post(page.URL, "application/x-www-form-urlencoded", strings.NewReader("method=card"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusOK || res.Request.URL.Path != "/paid" {
			t.Fatalf("paying leads to %s: %d", res.Request.URL, res.StatusCode)
		}
	}
	if err := s.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	first, err := fox.Credits(ctx, client.Page{Limit: 1})
	if err != nil || first.Balance != 30_000_000 || first.Frozen || len(first.Items) != 1 || !first.More {
		t.Fatalf("Credits: %+v, %v", first, err)
	}
	rest, err := fox.Credits(ctx, client.Page{Before: first.NextBefore})
	if err != nil || len(rest.Items) != 1 || rest.More || rest.Items[0].ID == first.Items[0].ID {
		t.Fatalf("Credits: %+v, %v", rest, err)
	}
	if e := rest.Items[0]; e.Kind != "bought" || e.MicroUSD+first.Items[0].MicroUSD != 30_000_000 || e.At == 0 || e.Subject["checkout"] != pages[0].ID && e.Subject["checkout"] != pages[1].ID {
		t.Fatalf("Credits: %+v", e)
	}
}
