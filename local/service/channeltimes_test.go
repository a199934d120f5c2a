package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/tables"
)

// promoReads is a table that counts reads of channels' promos, and of what viewers were shown.
type promoReads struct {
	tables.Backend
	live, viewers atomic.Int64
}

func (b *promoReads) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	if q.From == tables.LivePromos("", tables.Eventual).From {
		b.live.Add(1)
	}
	return b.Backend.Query(ctx, q)
}

func (b *promoReads) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if strings.HasPrefix(keys[0].SK, "promos#") {
		b.viewers.Add(1)
	}
	return b.Backend.Get(ctx, c, keys...)
}

// A channel's page looks for promos until the last one ends. Impressions of a reader are
// billed only once the reader is a day old.
func TestPagePromo_Boundaries(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		reads := &promoReads{Backend: r.App.Table}
		r.App.Table = reads
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		a := r.setOwner(r.joinDirectly("fox"), &tables.Origin{Person: "fox's"})
		time.Sleep(24*time.Hour - time.Millisecond)
		for i, want := range []struct{ ends, live, viewers int64 }{ // ends: milliseconds after the page is read
			{1, 1, 0}, // a millisecond before the reader is a day old
			{1, 1, 1},
			{0, 0, 0},
		} {
			r.set(tables.ChannelKey("lounge"), tables.SetAttr("promos_until", time.Now().UnixMilli()+want.ends))
			r.want(r.call(a, "GET", "/v1/c/lounge", ""), 200, "")
			if live, viewers := reads.live.Swap(0), reads.viewers.Swap(0); live != want.live || viewers != want.viewers {
				t.Errorf("page %d: got %d reads of live promos and %d of what the viewer was shown, want %d and %d", i, live, viewers, want.live, want.viewers)
			}
			time.Sleep(time.Millisecond)
		}
	})
}

func TestPage_ViewSample(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		ad := r.joinDirectly("ad")
		r.credit(ad, 5*usd)
		p := r.buy(t, ad, "lounge", "Look here.", 5, 2)
		r.midway("lounge", p)
		for _, sample := range []int64{0, 1} {
			r.App.Settings.ViewSample = sample
			r.has(r.want(r.call(nil, "GET", "/v1/c/lounge", ""), 200, ""), "promo.id", p.ID)
			var pages, promos, written int64
			for _, q := range tables.ViewsOf("lounge", time.Now()) {
				for _, item := range r.query(q.PK, q.From, q.To) {
					pages, written = pages+item.Int("n"), written+1
				}
			}
			for _, key := range tables.CountsKeys("lounge") {
				if item := r.item(key); item != nil {
					promos, written = promos+tables.Viewed(item, p.ID), written+1
				}
			}
			if pages != sample || promos != sample || written != 2*sample {
				t.Errorf("sample %d: got %d page views and %d promo views in %d items, want %[1]d of each, in separate items", sample, pages, promos, written)
			}
		}
	})
}

func TestHelpful_Day(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		r.App.Settings.Limits.HelpfulDay = 1
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		fox, owl := r.joinDirectly("fox"), r.joinDirectly("owl")
		for _, hour := range []time.Duration{6, 18} {
			day := time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
			time.Sleep(time.Until(day.Add(hour * time.Hour)))
			question := r.asks(fox, fmt.Sprint("Who knows? ", hour), "")
			first, second := r.asks(owl, fmt.Sprint("I do. ", hour), question), r.asks(owl, fmt.Sprint("And more. ", hour), question)
			r.want(r.call(fox, "POST", first+"/helpful", ""), 200, "")
			r.has(r.want(r.call(fox, "POST", second+"/helpful", ""), 429, "rate_limited"), "error.retry_at", fmt.Sprint(day.Add(24*time.Hour).UnixMilli()))
		}
	})
}
