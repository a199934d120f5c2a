package conformance

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"agentsocial/tables"
)

func testTransactions(t *testing.T, b tables.Backend) {
	one, two, three, four := k("tx", "1"), k("tx", "2"), k("other", "3"), k("tx", "4")
	mustCommit(t, b, tables.Put(item(two, "n", int64(2))), tables.Put(item(three, "n", int64(3))), tables.Put(item(four, "n", int64(4))))

	t.Run("all writes", func(t *testing.T) {
		mustCommit(t, b,
			tables.Put(item(one, "n", int64(1)), tables.NoItem()),
			tables.Change(two, tables.Add("n", 10)).When(tables.Equal("n", int64(2))),
			tables.Delete(three, tables.AtLeast("n", 3)),
			tables.Check(four, tables.Before("n", 5)))
		wantItem(t, b, one, item(one, "n", int64(1)))
		wantItem(t, b, two, item(two, "n", int64(12)))
		wantItem(t, b, three, nil)
		wantItem(t, b, four, item(four, "n", int64(4)))
	})
	t.Run("a cancelled transaction writes nothing and reports every failed condition", func(t *testing.T) {
		mustCancel(t, b,
			[]tables.Reason{{Failed: true, Old: item(one, "n", int64(1))}, {}, {Failed: true}, {Failed: true, Old: item(four, "n", int64(4))}, {}},
			tables.Put(item(one), tables.NoItem()),
			tables.Change(two, tables.Add("n", 10)),
			tables.Delete(three, tables.ItemExists()),
			tables.Check(four, tables.Before("n", 4)),
			tables.Put(item(k("tx", "5"))))
		wantItem(t, b, one, item(one, "n", int64(1)))
		wantItem(t, b, two, item(two, "n", int64(12)))
		wantItem(t, b, k("tx", "5"), nil)
	})
	t.Run("conditions see the state before the transaction", func(t *testing.T) {
		key := k("tx", "before")
		mustCommit(t, b, tables.Put(item(key, "n", int64(1)), tables.NoItem()))
		mustCommit(t, b, tables.Change(key, tables.Add("n", 1)).When(tables.Before("n", 2)))
		mustCommit(t, b, tables.Change(key, tables.SetAttr("m", "x")).When(tables.Absent("m"), tables.AtLeast("n", 2)), tables.Delete(one))
		wantItem(t, b, key, item(key, "n", int64(2), "m", "x"))
	})
	t.Run("deleting nothing", func(t *testing.T) {
		mustCommit(t, b, tables.Delete(k("tx", "nothing")))
		mustCommit(t, b, tables.Delete(k("tx", "nothing")), tables.Delete(k("tx", "nothing2"), tables.NoItem()))
	})
	t.Run("a check alone", func(t *testing.T) {
		mustCommit(t, b, tables.Check(two, tables.ItemExists()))
		mustCancel(t, b, []tables.Reason{{Failed: true, Old: item(two, "n", int64(12))}}, tables.Check(two, tables.NoItem()))
	})
	t.Run("100 writes", func(t *testing.T) {
		writes := make([]tables.Write, tables.MaxTxWrites)
		for i := range writes {
			writes[i] = tables.Put(item(k("hundred", fmt.Sprintf("%03d", i)), "n", int64(i)))
		}
		mustCommit(t, b, writes...)
		if n := len(query(t, b, tables.Query{PK: "hundred", Consistency: tables.Strong}).Items); n != 100 {
			t.Errorf("items after 100 puts: got %d, want 100", n)
		}
		mustRefuse(t, b, append(writes, tables.Put(item(k("hundred", "100"))))...)
	})
}

func testRefusedTransactions(t *testing.T, b tables.Backend) {
	key := k("refused", "1")
	refused := func(name string, tx tables.Tx) {
		t.Helper()
		if err := b.Commit(t.Context(), tx); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	refused("no writes", tables.Tx{})
	refused("no writes, with a token", tables.Tx{Token: "t"})
	refused("an unknown operation", tables.Tx{Writes: []tables.Write{{Op: 99, Key: key}}})
	refused("two puts", tables.Tx{Writes: []tables.Write{tables.Put(item(key)), tables.Put(item(key))}})
	refused("a put and a check", tables.Tx{Writes: []tables.Write{tables.Put(item(key)), tables.Check(key, tables.NoItem())}})
	refused("a token of 37 characters", tables.Tx{Token: strings.Repeat("x", 37), Writes: []tables.Write{tables.Put(item(key))}})
	wantItem(t, b, key, nil)

	t.Run("one invalid write refuses the others", func(t *testing.T) {
		mustCommit(t, b, tables.Put(item(key, "s", "a")))
		refused("an add to a string", tables.Tx{Writes: []tables.Write{tables.Put(item(k("refused", "2"))), tables.Change(key, tables.Add("s", 1))}})
		wantItem(t, b, k("refused", "2"), nil)
	})
}

func testTokens(t *testing.T, b tables.Backend) {
	key := k("token", "n")
	try := func(token string, writes ...tables.Write) error {
		return b.Commit(t.Context(), tables.Tx{Token: token, Writes: writes})
	}
	add := tables.Change(key, tables.Add("n", 1))
	succeeds := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("commit with a token: %v", err)
		}
	}
	t.Run("a repeat does nothing", func(t *testing.T) {
		for range 3 {
			succeeds(t, try("one", add))
		}
		wantItem(t, b, key, item(key, "n", int64(1)))
		succeeds(t, try("two", add, tables.Put(item(k("token", "beside")))))
		succeeds(t, try("two", add, tables.Put(item(k("token", "beside")))))
		wantItem(t, b, key, item(key, "n", int64(2)))
	})
	t.Run("a repeat whose condition no longer holds", func(t *testing.T) {
		claim := tables.Put(item(k("token", "claim"), "by", "a"), tables.NoItem())
		succeeds(t, try("claim", claim))
		succeeds(t, try("claim", claim))
		mustCommit(t, b, tables.Delete(k("token", "claim")))
		succeeds(t, try("claim", claim))
		wantItem(t, b, k("token", "claim"), nil)
	})
	t.Run("a repeat with other writes is refused", func(t *testing.T) {
		for name, writes := range map[string][]tables.Write{
			"another value":      {tables.Change(key, tables.Add("n", 2))},
			"another key":        {tables.Change(k("token", "m"), tables.Add("n", 1))},
			"one more condition": {add.When(tables.ItemExists())},
			"one more write":     {add, tables.Delete(k("token", "m"))},
			"another operation":  {tables.Delete(key)},
		} {
			if err := try("one", writes...); !errors.Is(err, tables.ErrInvalid) {
				t.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		wantItem(t, b, key, item(key, "n", int64(2)))
	})
	t.Run("a cancelled transaction may be repeated", func(t *testing.T) {
		late := tables.Put(item(k("token", "late")), tables.NoItem())
		mustCommit(t, b, tables.Put(item(k("token", "late"), "by", "another")))
		for range 2 {
			err := try("late", late)
			c, ok := errors.AsType[*tables.Cancelled](err)
			if !ok {
				t.Fatalf("commit on a failed condition: got %v, want a *Cancelled", err)
			}
			same(t, "reasons", c.Reasons, []tables.Reason{{Failed: true, Old: item(k("token", "late"), "by", "another")}})
		}
		mustCommit(t, b, tables.Delete(k("token", "late")))
		succeeds(t, try("late", late))
		wantItem(t, b, k("token", "late"), item(k("token", "late")))
	})
	t.Run("36 characters", func(t *testing.T) {
		succeeds(t, try(strings.Repeat("x", 36), add))
	})
}
