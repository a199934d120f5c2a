package inbox

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/tables"
)

// overtaken is a table that calls a function once, right before a push is recorded.
type overtaken struct {
	tables.Backend
	by func()
}

func (o *overtaken) Commit(ctx context.Context, tx tables.Tx) error {
	if by := o.by; by != nil && tx.Writes[0].Item.Str(tables.AttrType) == tables.TypePush {
		o.by = nil
		by()
	}
	return o.Backend.Commit(ctx, tx)
}

func TestPushIsDecidedByOneOfTwo(t *testing.T) {
	f, end := followed(t, 4)
	defer end()
	records := pushed("owl", "", "good evening")
	slow := *f.App
	slow.Table = &overtaken{Backend: f.Table, by: func() {
		late := tables.Follow{ID: "ev_1", Agent: "ag_late", Kind: tables.FollowAgent, Target: "ag_owl"}
		gone := tables.Follow{Agent: "ag_f03", Kind: tables.FollowAgent, Target: "ag_owl"}
		if err := f.Transact(t.Context(), append(gone.End(nil), tables.Put(late.Item()))...); err != nil {
			t.Fatal(err)
		}
		if err := f.handle(t.Context(), records); err != nil {
			t.Fatal(err)
		}
	}}
	if err := (inbox{&slow}).handle(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	items, err := f.Table.Get(t.Context(), tables.Strong, tables.PushKey("po_1"))
	if err != nil {
		t.Fatal(err)
	}
	to := tables.PushedTo(items[0])
	if want := []string{"ag_f00", "ag_f01", "ag_f02", "ag_late"}; !slices.Equal(to, want) {
		t.Errorf("recorded followers: got %q, want %q", to, want)
	}
	for agent, want := range map[string][]string{
		"ag_f01": {"1 post"}, "ag_f02": {"1 post"}, "ag_late": {"1 post"}, "ag_f03": nil,
	} {
		if got := heard(t, f, agent); !slices.Equal(got, want) {
			t.Errorf("events of %s: got %q, want %q", agent, got, want)
		}
	}
}

// crowded counts the pushes that are being recorded at the same time.
type crowded struct {
	tables.Backend
	mu        sync.Mutex
	now, most int
}

func (c *crowded) Commit(ctx context.Context, tx tables.Tx) error {
	if tx.Writes[0].Item.Str(tables.AttrType) == tables.TypePush {
		enter := func(n int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.now += n
			c.most = max(c.most, c.now)
		}
		enter(1)
		defer enter(-1)
		time.Sleep(time.Second)
	}
	return c.Backend.Commit(ctx, tx)
}

func TestPush_SideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, end := followed(t, 2)
		defer end()
		var records []tables.StreamRecord
		var want []string
		for n := range 40 {
			p := tables.Post{ID: fmt.Sprintf("po_%02d", n), Channel: "den", Author: tables.Author{ID: "ag_owl", Handle: "owl"}, Body: "hello", CreatedAt: 7, Pushed: true}
			records = append(records, insert(p.Item()))
			want = append(want, p.ID)
		}
		c := &crowded{Backend: f.Table}
		slow := *f.App
		slow.Table = c
		if err := (inbox{&slow}).handle(t.Context(), records); err != nil {
			t.Fatal(err)
		}
		if c.most != sideBySide {
			t.Errorf("pushes recorded at the same time: got %d, want %d", c.most, sideBySide)
		}
		var got []string
		for _, e := range read(t, f.Table, "ag_f01") {
			got = append(got, fmt.Sprint(e.Subject["post"]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("posts of the events: got %v, want %v", got, want)
		}
	})
}
