package conformance_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/tables"
	"agentsocial/tables/conformance"
	"agentsocial/tables/embedded"
)

// defaults are the number of sequences of the differential test and their average
// length, unless flags set them. DynamoDB Local makes some 300 transactions a
// second.
var defaults = map[string]string{"rapid.checks": "30", "rapid.steps": "40"}

// TestDifferential runs random sequences of operations on the embedded table and
// on DynamoDB Local, and compares every answer, then the remaining items, then the
// feeds.
func TestDifferential(t *testing.T) {
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	here := openEmbedded(t, embedded.Memory)
	there, thereFeed := dynamodbtest.Open(t)
	p := pair{t.Context(), here, there, map[string]int{}}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		s := &sequence{t: rt, prefix: fmt.Sprintf("%06d", n)}
		s.exists = func(k tables.Key) bool {
			items, err := here.Get(p.ctx, tables.Strong, k)
			return err == nil && items[0] != nil
		}
		commit := func(step *rapid.T) { s.t = step; p.commit(step, s.tx()) }
		rt.Repeat(map[string]func(*rapid.T){
			"commit":       commit,
			"commit again": commit, // twice as often
			"query":        func(step *rapid.T) { s.t = step; p.query(step, s.query()) },
			"get":          func(step *rapid.T) { s.t = step; p.get(step, s.key(), s.key(), s.key()) },
		})
		for _, pk := range []string{"p", "q"} {
			p.query(rt, tables.Query{PK: s.prefix + pk, Consistency: tables.Strong})
		}
		for _, x := range tables.Indexes {
			for _, pk := range []string{"R", "S"} {
				p.query(rt, tables.Query{Index: x.Name, PK: s.prefix + pk})
			}
		}
	})
	if t.Failed() {
		return
	}

	records, err := conformance.Follow(p.ctx, here)
	if err != nil {
		t.Fatal(err)
	}
	thereRecords, err := conformance.Follow(p.ctx, thereFeed)
	if err != nil {
		t.Fatal(err)
	}
	got, want := conformance.ByKey(records), conformance.ByKey(thereRecords)
	for key := range want {
		if !reflect.DeepEqual(got[key], want[key]) {
			t.Errorf("changes of %q differ\nembedded       %v\nDynamoDB Local %v", key, got[key], want[key])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the embedded feed has %d items, DynamoDB Local's %d", len(got), len(want))
	}
	t.Logf("%d sequences, commits %v, %d changes", n, p.outcomes, len(records))
}

// pair holds two tables that get the same calls.
type pair struct {
	ctx         context.Context
	here, there tables.Backend
	outcomes    map[string]int // of commits
}

// outcome returns the part of an error that both tables must agree on.
func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, tables.ErrInvalid):
		return "invalid"
	case errors.As(err, new(*tables.Cancelled)):
		return "cancelled"
	}
	return err.Error()
}

func (p pair) commit(t *rapid.T, tx tables.Tx) {
	t.Helper()
	here, there := p.here.Commit(p.ctx, tx), p.there.Commit(p.ctx, tx)
	p.outcomes[outcome(here)]++
	if outcome(here) != outcome(there) {
		t.Fatalf("commit of %s\nembedded       %v\nDynamoDB Local %v", describe(tx), here, there)
	}
	hereCancelled, ok := errors.AsType[*tables.Cancelled](here)
	thereCancelled, _ := errors.AsType[*tables.Cancelled](there)
	if ok && !reflect.DeepEqual(hereCancelled, thereCancelled) {
		t.Fatalf("reasons of %s\nembedded       %v\nDynamoDB Local %v", describe(tx), hereCancelled.Reasons, thereCancelled.Reasons)
	}
}

func (p pair) get(t *rapid.T, keys ...tables.Key) {
	t.Helper()
	here, err1 := p.here.Get(p.ctx, tables.Strong, keys...)
	there, err2 := p.there.Get(p.ctx, tables.Strong, keys...)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(here, there) {
		t.Fatalf("get of %q\nembedded       %v, %v\nDynamoDB Local %v, %v", keys, here, err1, there, err2)
	}
}

// query compares a range page by page. A page of 1 MB may end at different items,
// so the pages of a large range are compared together.
func (p pair) query(t *rapid.T, q tables.Query) {
	t.Helper()
	here, hereSize := drain(t, p.ctx, p.here, q)
	there, thereSize := drain(t, p.ctx, p.there, q)
	if max(hereSize, thereSize) > tables.MaxPageSize/2 {
		here, there = oneOf(here), oneOf(there)
	}
	if !reflect.DeepEqual(here, there) {
		t.Fatalf("query %+v after %+v\nembedded       %s\nDynamoDB Local %s", q, q.After, pages(here), pages(there))
	}
}

func drain(t *rapid.T, ctx context.Context, b tables.Backend, q tables.Query) (all []tables.Page, size int) {
	t.Helper()
	for range 100 {
		page, err := b.Query(ctx, q)
		if err != nil {
			t.Fatalf("query %+v after %+v: %v", q, q.After, err)
		}
		if len(page.Items) == 0 {
			page.Items = nil
		}
		for _, item := range page.Items {
			size += item.Size()
		}
		all = append(all, page)
		if q.After = page.Next; page.Next == nil {
			return all, size
		}
	}
	t.Fatalf("query %+v: more than 100 pages", q)
	return nil, 0
}

func oneOf(all []tables.Page) []tables.Page {
	var one tables.Page
	for _, page := range all {
		one.Items = append(one.Items, page.Items...)
	}
	return []tables.Page{one}
}

func pages(all []tables.Page) (s string) {
	for _, page := range all {
		s += fmt.Sprintf("%v next %v; ", page.Items, page.Next)
	}
	return shorten(s)
}

func describe(tx tables.Tx) string { return shorten(fmt.Sprintf("%+v", tx)) }

func shorten(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}
