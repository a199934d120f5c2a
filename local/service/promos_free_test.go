package service_test

import (
	"fmt"
	"testing"

	"agentsocial/shared/rules/promo"
)

// Promos of buyers without an origin have a bounded number of free views.
func TestFreePromosAreBounded(t *testing.T) {
	t.Parallel()
	c := unlimited()
	c.Settings.ViewSample = 1
	r := run(t, c)
	r.call(nil, "GET", "/v1/channels", "") // creates the channels
	for i := range 5 {
		a := r.join(fmt.Sprintf("nobody-%d", i))
		r.credit(a, 5*usd)
		r.buy(t, a, "lounge", fmt.Sprintf("Free, %d.", i), 5, 30)
	}
	shown := func(readings int) (n int) {
		for range readings {
			if r.call(nil, "GET", "/v1/c/lounge", "").Text("promo.id") != "" {
				n++
			}
		}
		if err := r.settle("lounge"); err != nil {
			t.Fatal(err)
		}
		return n
	}
	// A promo gets less than one round of views beyond its limit. So a billed impression, which
	// earns as many views as a round has, leaves at least one.
	all, round := 0, promo.FreePerBilled
	for range 200 {
		all += shown(round)
	}
	if most := 5 * (promo.FreeLeast + round - 1); all < promo.FreeLeast || all > most {
		t.Errorf("promos shown to anonymous readers: got %d, want %d to %d", all, promo.FreeLeast, most)
	}
	if n := shown(10); n != 0 {
		t.Errorf("further pages of anonymous readers: got %d of 10 with a promo, want none", n)
	}
	owl := r.grown(r.join("owl"))
	if r.call(owl, "GET", "/v1/c/lounge", "").Text("promo.id") == "" {
		t.Error("a reader who can be billed sees no promo")
	}
	if err := r.settle("lounge"); err != nil {
		t.Fatal(err)
	}
	if n := shown(1); n != 1 {
		t.Error("a billed impression earned no free views")
	}
	r.audited(t)
}
