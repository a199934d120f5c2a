package embedded_test

import (
	"errors"
	"testing"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func TestConditions(t *testing.T) {
	table := open(t, embedded.Config{})
	k := at("P", "S")
	commit(t, table, tables.Put(item{"pk": "P", "sk": "S", "n": int64(5), "s": "text", "e": "", "t": true, "b": []byte{1}, "set": tables.NewSet("x", "y")}))
	const yes, no = true, false
	for i, c := range []struct {
		cond  tables.Cond
		holds bool
	}{
		{tables.Absent("q"), yes}, {tables.Absent("e"), no}, {tables.NoItem(), no},
		{tables.Present("q"), no}, {tables.Present("e"), yes}, {tables.ItemExists(), yes},
		{tables.Equal("n", int64(5)), yes}, {tables.Equal("n", int64(6)), no}, {tables.Equal("n", "5"), no}, {tables.Equal("q", ""), no},
		{tables.Equal("s", "text"), yes}, {tables.Equal("e", ""), yes}, {tables.Equal("t", true), yes}, {tables.Equal("t", false), no},
		{tables.Equal("b", []byte{1}), yes}, {tables.Equal("b", []byte{}), no}, {tables.Equal("b", "\x01"), no}, {tables.Equal("set", "x"), no},
		{tables.AbsentOrEqual("q", int64(1)), yes}, {tables.AbsentOrEqual("n", int64(5)), yes}, {tables.AbsentOrEqual("n", int64(1)), no},
		{tables.NotEqual("q", int64(1)), yes}, {tables.NotEqual("n", int64(1)), yes}, {tables.NotEqual("n", int64(5)), no}, {tables.NotEqual("n", "5"), yes},
		{tables.AtLeast("n", 5), yes}, {tables.AtLeast("n", 6), no}, {tables.AtLeast("q", 0), no}, {tables.AtLeast("s", 0), no},
		{tables.Before("n", 6), yes}, {tables.Before("n", 5), no}, {tables.Before("q", 5), no}, {tables.Before("s", 5), no},
		{tables.AbsentOrBefore("n", 6), yes}, {tables.AbsentOrBefore("n", 5), no}, {tables.AbsentOrBefore("q", 5), yes}, {tables.AbsentOrBefore("s", 5), no},
		{tables.ContainsOrSizeBelow("set", "x", 0), yes}, {tables.ContainsOrSizeBelow("set", "z", 3), yes}, {tables.ContainsOrSizeBelow("set", "z", 2), no},
		{tables.ContainsOrSizeBelow("q", "z", 0), yes}, {tables.ContainsOrSizeBelow("s", "e", 9), no},
	} {
		err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Check(k, c.cond)}})
		var cancelled *tables.Cancelled
		if (err == nil) != c.holds || err != nil && (!errors.As(err, &cancelled) || cancelled.Reasons[0].Old.Key() != k) {
			t.Errorf("%d: %+v: got %v, want holds = %t, and the old item in a refusal", i, c.cond, err, c.holds)
		}
	}
}
