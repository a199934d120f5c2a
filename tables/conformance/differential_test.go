package conformance_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/tables"
	"agentsocial/tables/conformance"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

// defaults are the number of sequences on one pair of tables, and their average length.
// DynamoDB Local makes some 300 transactions a second.
var defaults = map[string]string{"rapid.checks": "30", "rapid.steps": "40"}

var rounds = flag.Int("rounds", 1, "pairs of tables that the differential test compares, one after the other")

// TestDifferential compares the embedded table with DynamoDB Local. A long run, which can be
// repeated with its seed:
//
//	go test ./tables/conformance -run TestDifferential -v -timeout 1h -rounds 100 -rapid.seed 1
func TestDifferential(t *testing.T) {
	flag.Visit(func(f *flag.Flag) { delete(defaults, f.Name) })
	for name, value := range defaults {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	seed := flag.Lookup("rapid.seed").Value.(flag.Getter).Get().(uint64)
	if seed == 0 {
		seed = rand.Uint64()>>2 + 1
	}
	calls, operations := 0, 0
	for round := range uint64(*rounds) {
		from := fmt.Sprint(seed + round<<20) // rapid counts up from it
		if err := flag.Set("rapid.seed", from); err != nil {
			t.Fatal(err)
		}
		t.Run(from, func(t *testing.T) {
			p := differ(t)
			calls, operations = calls+p.calls, operations+p.operations
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("seed %d: %d calls of both tables with %d operations", seed, calls, operations)
}

// now is the embedded table's time. It is in the future, because DynamoDB Local sometimes
// removes an item that has expired by real time.
var now = time.Date(2100, 7, 1, 12, 0, 0, 0, time.UTC)

// DynamoDB Local applies a token to all of its tables, so each sequence in each process
// has tokens of its own.
var (
	sequences int // drawn so far
	process   = rand.Uint32()
)

func differ(t *testing.T) *pair {
	here, err := embedded.Open(embedded.Config{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close() })
	there, thereFeed := dynamodbtest.Open(t)
	p := &pair{ctx: t.Context(), here: here, there: retry.Over(there, rand.Int64N), // DynamoDB Local on a busy machine may not answer
		outcomes: map[string]int{}}
	first := sequences
	rapid.Check(t, func(rt *rapid.T) {
		sequences++
		s := &sequence{t: rt, prefix: fmt.Sprintf("%06d", sequences)}
		s.exists = func(k tables.Key) bool {
			items, err := here.Get(p.ctx, tables.Strong, k)
			return err == nil && items[0] != nil
		}
		on := func(do func(*rapid.T)) func(*rapid.T) { return func(step *rapid.T) { s.t = step; do(step) } }
		commit := on(func(step *rapid.T) { p.commit(step, s.tx()) })
		rt.Repeat(map[string]func(*rapid.T){
			"commit":       commit,
			"commit again": commit, // drawn twice as often as the others
			"query":        on(func(step *rapid.T) { p.query(step, s.query()) }),
			"get":          on(func(step *rapid.T) { p.get(step, s.key(), s.key(), s.key()) }),
			"stale read":   on(func(step *rapid.T) { p.stale(step, s) }),
			"fault":        on(func(step *rapid.T) { p.fault(step, s.tx(), s.fault()) }),
			"expire":       on(func(step *rapid.T) { p.expire(step, s.prefix) }),
		})
		p.expire(rt, s.prefix) // so that a later sequence's sweep finds only its own items
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
		return p
	}

	if got, want := scanned(t, here), scanned(t, there.(tables.Scanner)); !reflect.DeepEqual(got, want) {
		t.Errorf("scans differ: embedded %d items, DynamoDB Local %d", len(got), len(want))
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
			t.Errorf("changes of %q differ\nembedded       %s\nDynamoDB Local %s", key, shorten(fmt.Sprint(got[key])), shorten(fmt.Sprint(want[key])))
		}
	}
	if len(got) != len(want) {
		t.Errorf("items with changes in the feed: embedded %d, DynamoDB Local %d", len(got), len(want))
	}
	expired := 0
	for _, r := range records {
		if r.Expired {
			expired++
		}
	}
	if expired != p.expired {
		t.Errorf("expired items in the embedded feed: got %d, want %d", expired, p.expired)
	}
	t.Logf("%d sequences, %d calls with %d operations, commits %v, %d changes, %d expired, %d of %d eventual reads were stale",
		sequences-first, p.calls, p.operations, p.outcomes, len(records), p.expired, p.old, p.eventual)
	return p
}

func scanned(t *testing.T, s tables.Scanner) map[tables.Key]tables.Item {
	t.Helper()
	all := map[tables.Key]tables.Item{}
	if err := s.Scan(t.Context(), func(i tables.Item) error { all[i.Key()] = i; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// pair holds two tables that get the same calls.
type pair struct {
	ctx        context.Context
	here       *embedded.Table
	there      tables.Backend
	calls      int            // made to both
	operations int            // in these calls: writes, items to get, pages, sweeps
	outcomes   map[string]int // of commits
	expired    int            // items removed by sweeps
	eventual   int            // eventually consistent reads under faults
	old        int            // how many of these reads were stale
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

func (p *pair) commit(t *rapid.T, tx tables.Tx) {
	t.Helper()
	p.compare(t, tx, p.here.Commit(p.ctx, tx), p.there.Commit(p.ctx, tx))
}

func (p *pair) compare(t *rapid.T, tx tables.Tx, here, there error) {
	t.Helper()
	p.calls++
	p.operations += len(tx.Writes)
	p.outcomes[outcome(here)]++
	if outcome(here) != outcome(there) {
		t.Fatalf("commit of %s\nembedded       %v\nDynamoDB Local %v", describe(tx), here, there)
	}
	hereCancelled, ok := errors.AsType[*tables.Cancelled](here)
	thereCancelled, _ := errors.AsType[*tables.Cancelled](there)
	if ok && !reflect.DeepEqual(hereCancelled, thereCancelled) {
		t.Fatalf("reasons why %s was cancelled\nembedded       %v\nDynamoDB Local %v", describe(tx), hereCancelled.Reasons, thereCancelled.Reasons)
	}
}

func (p *pair) get(t *rapid.T, keys ...tables.Key) {
	t.Helper()
	p.calls++
	p.operations += len(keys)
	here, err1 := p.here.Get(p.ctx, tables.Strong, keys...)
	there, err2 := p.there.Get(p.ctx, tables.Strong, keys...)
	if err1 != nil || err2 != nil || !reflect.DeepEqual(here, there) {
		t.Fatalf("get of %q\nembedded       %v, %v\nDynamoDB Local %v, %v", keys, here, err1, there, err2)
	}
}

// query compares a range page by page. A page of 1 MB may end at different items, so the
// pages of a large range are compared as one.
func (p *pair) query(t *rapid.T, q tables.Query) {
	t.Helper()
	here, hereSize := drain(t, p.ctx, p.here, q)
	there, thereSize := drain(t, p.ctx, p.there, q)
	p.calls += len(here)
	p.operations += len(here)
	if max(hereSize, thereSize) > tables.MaxPageSize/2 {
		here, there = oneOf(here), oneOf(there)
	}
	if !samePages(q, here, there) {
		t.Fatalf("query %+v after %+v\nembedded       %s\nDynamoDB Local %s", q, q.After, pages(here), pages(there))
	}
}

// samePages compares the pages of a query. Items of an index with equal sort keys have no
// defined order, so they may be on different pages.
func samePages(q tables.Query, here, there []tables.Page) bool {
	if q.Index == "" {
		return reflect.DeepEqual(here, there)
	}
	schema, _ := q.Index.Schema()
	outline := func(pages []tables.Page) (s string) {
		for _, page := range pages {
			for _, i := range page.Items {
				s += fmt.Sprintf("%q ", i.Str(schema.SK))
			}
			if page.Next != nil {
				s += fmt.Sprintf("next %q", page.Next.SK)
			}
			s += "\n"
		}
		return s
	}
	sorted := func(pages []tables.Page) []tables.Item {
		all := oneOf(pages)[0].Items
		slices.SortFunc(all, func(a, b tables.Item) int {
			return cmp.Or(cmp.Compare(a.Str(schema.SK), b.Str(schema.SK)), cmp.Compare(a.Key().PK, b.Key().PK), cmp.Compare(a.Key().SK, b.Key().SK))
		})
		return all
	}
	return outline(here) == outline(there) && reflect.DeepEqual(sorted(here), sorted(there))
}

// stale makes some commits, and then an eventually consistent read of the embedded table.
// The read may show the table as it was before or after any one of these commits.
func (p *pair) stale(t *rapid.T, s *sequence) {
	q := s.query()
	q.Consistency, q.Limit, q.After, q.From, q.To = tables.Eventual, 100, nil, "", ""
	txs := make([]tables.Tx, s.below(4)+1)
	there := make([]error, len(txs))
	allowed := []tables.Page{p.page(t, p.there, q)}
	for i := range txs {
		txs[i] = s.tx()
		there[i] = p.there.Commit(p.ctx, txs[i])
		allowed = append(allowed, p.page(t, p.there, q))
	}
	p.here.SetFaults(func(string, []tables.Key) embedded.Fault { return embedded.Stale })
	defer p.here.SetFaults(nil)
	for i, tx := range txs {
		p.compare(t, tx, p.here.Commit(p.ctx, tx), there[i])
	}
	got := p.page(t, p.here, q)
	p.calls++
	p.operations++
	if slices.ContainsFunc(append(allowed, got), func(page tables.Page) bool { return sizeOf(page) > tables.MaxPageSize/2 }) {
		return // pages of a megabyte may end at different items
	}
	is := func(want tables.Page) bool { return samePages(q, []tables.Page{got}, []tables.Page{want}) }
	if !slices.ContainsFunc(allowed, is) {
		t.Fatalf("an eventually consistent query %+v\ngot   %s\nwant one of %s", q, pages([]tables.Page{got}), pages(allowed))
	}
	p.eventual++
	if !is(allowed[len(allowed)-1]) {
		p.old++
	}
	if q.Index == "" {
		q.Consistency = tables.Strong
		p.query(t, q)
	}
}

func (p *pair) page(t *rapid.T, b tables.Backend, q tables.Query) tables.Page {
	t.Helper()
	page, err := b.Query(p.ctx, q)
	if err != nil {
		t.Fatalf("query %+v: %v", q, err)
	}
	if len(page.Items) == 0 {
		page.Items = nil
	}
	return page
}

func sizeOf(page tables.Page) (size int) {
	for _, i := range page.Items {
		size += i.Size()
	}
	return size
}

// fault commits on the embedded table with a fault, and then again as a caller would. A
// caller does not repeat a transaction without a token after a lost answer.
func (p *pair) fault(t *rapid.T, tx tables.Tx, fault embedded.Fault) {
	p.here.SetFaults(func(string, []tables.Key) embedded.Fault { return fault })
	err := p.here.Commit(p.ctx, tx)
	p.here.SetFaults(nil)
	want := map[embedded.Fault]error{
		embedded.Conflict: tables.ErrConflict, embedded.Throttled: tables.ErrThrottled,
		embedded.LostRequest: tables.ErrUnknownOutcome, embedded.LostAnswer: tables.ErrUnknownOutcome,
	}[fault]
	if !errors.Is(err, want) && !errors.Is(err, tables.ErrInvalid) {
		t.Fatalf("commit of %s with fault %d: got %v, want %v or ErrInvalid", describe(tx), fault, err, want)
	}
	if fault != embedded.LostAnswer || tx.Token != "" || errors.Is(err, tables.ErrInvalid) {
		p.commit(t, tx)
		return
	}
	p.calls++
	p.operations += len(tx.Writes)
	if err := p.there.Commit(p.ctx, tx); err != nil && outcome(err) == err.Error() {
		t.Fatalf("commit of %s on DynamoDB Local: got %v, want nil, ErrInvalid or a *Cancelled", describe(tx), err)
	}
}

// expire sweeps the embedded table. Then it deletes from DynamoDB Local the items that
// DynamoDB would have removed.
func (p *pair) expire(t *rapid.T, prefix string) {
	removed, err := p.here.Sweep(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	p.calls++
	p.operations++
	p.expired += removed
	for _, pk := range []string{"p", "q"} {
		all, _ := drain(t, p.ctx, p.there, tables.Query{PK: prefix + pk, Consistency: tables.Strong})
		for _, i := range oneOf(all)[0].Items {
			ttl, ok := i[tables.AttrTTL].(int64)
			if !ok || ttl >= now.Unix() || ttl < now.Unix()-5*365*24*60*60 || ttl <= 0 {
				continue
			}
			removed--
			if err := p.there.Commit(p.ctx, tables.Tx{Writes: []tables.Write{tables.Delete(i.Key())}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if removed != 0 {
		t.Fatalf("items that the sweep removed beyond those expired in DynamoDB Local: got %d, want 0", removed)
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

// run matches the padding of names and items.
var run = regexp.MustCompile(`n{100,}|x{100,}`)

func shorten(s string) string {
	s = run.ReplaceAllStringFunc(s, func(r string) string { return fmt.Sprintf("%c×%d", r[0], len(r)) })
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}
