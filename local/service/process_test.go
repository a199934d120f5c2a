package service_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/tables"
)

// killer is a table that kills the process after a chosen commit.
type killer struct {
	tables.Backend
	kill func(context.Context)
	when atomic.Pointer[func(tables.Tx) bool]
}

func (k *killer) Commit(ctx context.Context, tx tables.Tx) error {
	err := k.Backend.Commit(ctx, tx)
	if when := k.when.Load(); err == nil && when != nil && (*when)(tx) && k.when.CompareAndSwap(when, nil) {
		k.kill(ctx)
	}
	return err
}

func TestDeadProcessesAreReplaced(t *testing.T) {
	t.Run("Kill", func(t *testing.T) { testDeadProcessesAreReplaced(t, service.Kill) })
	t.Run("Die", func(t *testing.T) { testDeadProcessesAreReplaced(t, service.Die) })
}

func testDeadProcessesAreReplaced(t *testing.T, kill func(context.Context)) {
	k := &killer{kill: kill}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend { k.Backend = b; return k }})
	dies := func(writes func(tables.Write) bool) {
		when := func(tx tables.Tx) bool { return slices.ContainsFunc(tx.Writes, writes) }
		k.when.Store(&when)
	}
	died := func(what string) {
		t.Helper()
		if k.when.Load() != nil {
			t.Errorf("%s did not die", what)
		}
	}
	typed := func(typ string) func(tables.Write) bool {
		return func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == typ }
	}
	fox := r.join("fox")
	q := r.request(fox, "POST", "/v1/c/lounge/posts", `{"body":"hello"}`)
	dies(typed(tables.TypePost))
	if a, err := q.Send(r.URL); err != nil || a.Status != 500 || string(a.Body) != "{\"message\":\"Internal Server Error\"}\n" {
		t.Errorf("a request whose process dies: got %v, %+v; want 500", err, a)
	}
	died("the request")
	if a := r.send(q); a.Status != 201 || a.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the same request again: got %d %s, want 201, Idempotent-Replayed true", a.Status, a.Body)
	}

	dies(typed(tables.TypeInboxWaiting))
	r.call(r.join("owl"), "POST", "/v1/c/lounge/posts", `{"body":"hello @fox"}`)
	r.drain()
	died("the batch")
	dies(typed(tables.TypeInboxEvent))
	if a, err := r.request(fox, "GET", "/v1/me/inbox", "").Send(r.URL); err != nil || a.Status != 500 {
		t.Errorf("a reading of the inbox whose process dies: got %v, %+v; want 500", err, a)
	}
	died("the reading of the inbox")
	r.has(r.call(fox, "GET", "/v1/me/inbox", ""), "items.len", "2")

	r.putAll(tables.SealDue{Channel: "lounge"}.Move(r.App.Now()))
	due := tables.SealDueKey("lounge")
	dies(func(w tables.Write) bool { return w.Key == due })
	tick := func(status int) {
		t.Helper()
		if a := r.call(nil, "POST", "/_local/tick", `{"name":"deadlines"}`); a.Status != status {
			t.Errorf("the schedule: got %d %s, want %d", a.Status, a.Body, status)
		}
	}
	tick(500)
	died("the schedule")
	r.advance(time.Hour)
	tick(200)
	if items := r.query(due.PK, due.SK, due.SK); len(items) > 0 {
		t.Errorf("due items: got %v, want none", items)
	}
}
