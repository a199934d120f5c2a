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
	made(t, b, tables.Put(item(two, "n", int64(2))), tables.Put(item(three, "n", int64(3))), tables.Put(item(four, "n", int64(4))))

	t.Run("all of it", func(t *testing.T) {
		made(t, b,
			tables.Put(item(one, "n", int64(1)), tables.NoItem()),
			tables.Change(two, tables.Add("n", 10)).When(tables.Equal("n", int64(2))),
			tables.Delete(three, tables.AtLeast("n", 3)),
			tables.Check(four, tables.Before("n", 5)))
		stands(t, b, one, item(one, "n", int64(1)))
		stands(t, b, two, item(two, "n", int64(12)))
		stands(t, b, three, nil)
		stands(t, b, four, item(four, "n", int64(4)))
	})
	t.Run("none of it, and every condition that failed", func(t *testing.T) {
		cancelled(t, b,
			[]tables.Reason{{Failed: true, Old: item(one, "n", int64(1))}, {}, {Failed: true}, {Failed: true, Old: item(four, "n", int64(4))}, {}},
			tables.Put(item(one), tables.NoItem()),
			tables.Change(two, tables.Add("n", 10)),
			tables.Delete(three, tables.ItemExists()),
			tables.Check(four, tables.Before("n", 4)),
			tables.Put(item(k("tx", "5"))))
		stands(t, b, one, item(one, "n", int64(1)))
		stands(t, b, two, item(two, "n", int64(12)))
		stands(t, b, k("tx", "5"), nil)
	})
	t.Run("conditions are about the state before", func(t *testing.T) {
		key := k("tx", "before")
		made(t, b, tables.Put(item(key, "n", int64(1)), tables.NoItem()))
		made(t, b, tables.Change(key, tables.Add("n", 1)).When(tables.Before("n", 2)))
		made(t, b, tables.Change(key, tables.SetAttr("m", "x")).When(tables.Absent("m"), tables.AtLeast("n", 2)), tables.Delete(one))
		stands(t, b, key, item(key, "n", int64(2), "m", "x"))
	})
	t.Run("deleting nothing", func(t *testing.T) {
		made(t, b, tables.Delete(k("tx", "nothing")))
		made(t, b, tables.Delete(k("tx", "nothing")), tables.Delete(k("tx", "nothing2"), tables.NoItem()))
	})
	t.Run("a check alone", func(t *testing.T) {
		made(t, b, tables.Check(two, tables.ItemExists()))
		cancelled(t, b, []tables.Reason{{Failed: true, Old: item(two, "n", int64(12))}}, tables.Check(two, tables.NoItem()))
	})
	t.Run("100 writes", func(t *testing.T) {
		writes := make([]tables.Write, tables.MaxTxWrites)
		for i := range writes {
			writes[i] = tables.Put(item(k("hundred", fmt.Sprintf("%03d", i)), "n", int64(i)))
		}
		made(t, b, writes...)
		if n := len(ask(t, b, tables.Query{PK: "hundred", Consistency: tables.Strong}).Items); n != 100 {
			t.Errorf("%d items", n)
		}
		refused(t, b, append(writes, tables.Put(item(k("hundred", "100"))))...)
	})
}

func testRefusedTransactions(t *testing.T, b tables.Backend) {
	key := k("refused", "1")
	refused := func(name string, tx tables.Tx) {
		t.Helper()
		if err := b.Commit(t.Context(), tx); !errors.Is(err, tables.ErrInvalid) {
			t.Errorf("%s: %v; want ErrInvalid", name, err)
		}
	}
	refused("no writes", tables.Tx{})
	refused("no writes, with a token", tables.Tx{Token: "t"})
	refused("an unknown operation", tables.Tx{Writes: []tables.Write{{Op: 99, Key: key}}})
	refused("two puts", tables.Tx{Writes: []tables.Write{tables.Put(item(key)), tables.Put(item(key))}})
	refused("a put and a check", tables.Tx{Writes: []tables.Write{tables.Put(item(key)), tables.Check(key, tables.NoItem())}})
	refused("a token of 37 characters", tables.Tx{Token: strings.Repeat("x", 37), Writes: []tables.Write{tables.Put(item(key))}})
	stands(t, b, key, nil)

	t.Run("one invalid write spoils the others", func(t *testing.T) {
		made(t, b, tables.Put(item(key, "s", "a")))
		refused("a type", tables.Tx{Writes: []tables.Write{tables.Put(item(k("refused", "2"))), tables.Change(key, tables.Add("s", 1))}})
		stands(t, b, k("refused", "2"), nil)
	})
}

func testTokens(t *testing.T, b tables.Backend) {
	key := k("token", "n")
	try := func(token string, writes ...tables.Write) error {
		return b.Commit(t.Context(), tables.Tx{Token: token, Writes: writes})
	}
	add := tables.Change(key, tables.Add("n", 1))
	once := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("made again, it does nothing", func(t *testing.T) {
		for range 3 {
			once(t, try("one", add))
		}
		stands(t, b, key, item(key, "n", int64(1)))
		once(t, try("two", add, tables.Put(item(k("token", "beside")))))
		once(t, try("two", add, tables.Put(item(k("token", "beside")))))
		stands(t, b, key, item(key, "n", int64(2)))
	})
	t.Run("even if its condition no longer holds", func(t *testing.T) {
		claim := tables.Put(item(k("token", "claim"), "by", "a"), tables.NoItem())
		once(t, try("claim", claim))
		once(t, try("claim", claim))
		made(t, b, tables.Delete(k("token", "claim")))
		once(t, try("claim", claim))
		stands(t, b, k("token", "claim"), nil)
	})
	t.Run("with other writes it is refused", func(t *testing.T) {
		for name, writes := range map[string][]tables.Write{
			"another value":     {tables.Change(key, tables.Add("n", 2))},
			"another key":       {tables.Change(k("token", "m"), tables.Add("n", 1))},
			"a condition more":  {add.When(tables.ItemExists())},
			"a write more":      {add, tables.Delete(k("token", "m"))},
			"another operation": {tables.Delete(key)},
		} {
			if err := try("one", writes...); !errors.Is(err, tables.ErrInvalid) {
				t.Errorf("%s: %v; want ErrInvalid", name, err)
			}
		}
		stands(t, b, key, item(key, "n", int64(2)))
	})
	t.Run("a cancelled one may be tried again", func(t *testing.T) {
		late := tables.Put(item(k("token", "late")), tables.NoItem())
		made(t, b, tables.Put(item(k("token", "late"), "by", "another")))
		for range 2 {
			err := try("late", late)
			c, ok := errors.AsType[*tables.Cancelled](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			same(t, "reasons", c.Reasons, []tables.Reason{{Failed: true, Old: item(k("token", "late"), "by", "another")}})
		}
		made(t, b, tables.Delete(k("token", "late")))
		once(t, try("late", late))
		stands(t, b, k("token", "late"), item(k("token", "late")))
	})
	t.Run("36 characters", func(t *testing.T) {
		once(t, try(strings.Repeat("x", 36), add))
	})
}
