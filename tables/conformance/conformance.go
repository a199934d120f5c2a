// Package conformance tests implementations of [tables.Backend] and [tables.Feed]. The
// contract consists of the comments in package tables. Where they say nothing, DynamoDB's
// behaviour is the contract.
package conformance

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"agentsocial/tables"
)

// Run tests a backend. open makes an empty table and has the test close it.
func Run(t *testing.T, open func(*testing.T) tables.Backend) {
	for _, part := range []struct {
		name string
		test func(*testing.T, tables.Backend)
	}{
		{"get", testGet},
		{"values", testValues},
		{"numbers", testNumbers},
		{"values refused", testRefusedValues},
		{"conditions", testConditions},
		{"conditions of each operation", testConditionsOfOperations},
		{"conditions refused", testRefusedConditions},
		{"updates", testUpdates},
		{"updates of no item", testUpdatesOfNoItem},
		{"updates refused", testRefusedUpdates},
		{"transactions", testTransactions},
		{"transactions refused", testRefusedTransactions},
		{"tokens", testTokens},
		{"item sizes", testItemSizes},
		{"transaction sizes", testTransactionSizes},
		{"key sizes", testKeySizes},
		{"name sizes", testNameSizes},
		{"nesting", testNesting},
		{"long expressions", testLongExpressions},
		{"sums beyond int64", testLargeSums},
		{"queries", testQueries},
		{"queries page by page", testPaging},
		{"queries for some attributes", testSomeAttributes},
		{"queries from a position", testCursors},
		{"queries refused", testRefusedQueries},
		{"order of keys", testOrder},
		{"pages of a megabyte", testLargePages},
		{"indexes", testIndexes},
		{"index projections", testProjections},
		{"index ties", testTies},
		{"index keys refused", testRefusedIndexKeys},
		{"concurrent writers", testConcurrency},
		{"an ended context", testEndedContext},
		{"ownership of values", testOwnership},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t)) })
	}
}

func k(pk, sk string) tables.Key { return tables.Key{PK: pk, SK: sk} }

// item makes an item of a key and pairs of attribute and value.
func item(key tables.Key, pairs ...any) tables.Item {
	i := tables.Item{tables.AttrPK: key.PK, tables.AttrSK: key.SK}
	for n := 0; n < len(pairs); n += 2 {
		i[pairs[n].(string)] = pairs[n+1]
	}
	return i
}

func commit(ctx context.Context, b tables.Backend, writes ...tables.Write) error {
	return b.Commit(ctx, tables.Tx{Writes: writes})
}

func mustCommit(t *testing.T, b tables.Backend, writes ...tables.Write) {
	t.Helper()
	if err := commit(t.Context(), b, writes...); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func mustCancel(t *testing.T, b tables.Backend, want []tables.Reason, writes ...tables.Write) {
	t.Helper()
	err := commit(t.Context(), b, writes...)
	c, ok := errors.AsType[*tables.Cancelled](err)
	if !ok {
		t.Errorf("commit: got %v, want a *Cancelled", err)
		return
	}
	if !reflect.DeepEqual(c.Reasons, want) {
		t.Errorf("reasons of the *Cancelled\n got %v\nwant %v", c.Reasons, want)
	}
}

// mustRefuse makes writes that must fail with ErrInvalid. A single write must also
// fail beside another.
func mustRefuse(t *testing.T, b tables.Backend, writes ...tables.Write) {
	t.Helper()
	if err := commit(t.Context(), b, writes...); !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("commit: got %v, want ErrInvalid", err)
	}
	if len(writes) > 1 {
		return
	}
	if err := commit(t.Context(), b, writes[0], tables.Delete(k("refused", "beside"))); !errors.Is(err, tables.ErrInvalid) {
		t.Errorf("commit with another write: got %v, want ErrInvalid", err)
	}
}

// read returns one item; nil if it does not exist.
func read(t *testing.T, b tables.Backend, key tables.Key) tables.Item {
	t.Helper()
	items, err := b.Get(t.Context(), tables.Strong, key)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	if len(items) != 1 {
		t.Fatalf("get of one key: got %d items, want 1", len(items))
	}
	return items[0]
}

// wantItem checks the item under a key; nil means none.
func wantItem(t *testing.T, b tables.Backend, key tables.Key, want tables.Item) {
	t.Helper()
	if got := read(t, b, key); !reflect.DeepEqual(got, want) {
		t.Errorf("item %q\n got %#v\nwant %#v", key, got, want)
	}
}

func query(t *testing.T, b tables.Backend, q tables.Query) tables.Page {
	t.Helper()
	p, err := b.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("query: %v", err)
	}
	return p
}

func sks(items []tables.Item) []string {
	out := []string{}
	for _, i := range items {
		out = append(out, i.Str(tables.AttrSK))
	}
	return out
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %#v\nwant %#v", what, got, want)
	}
}
