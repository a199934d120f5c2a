package conformance

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"agentsocial/tables"
)

// states returns items by sort key. All but "bare" have the attribute "x", each
// with a different value.
func states() map[string]tables.Item {
	all := map[string]any{
		"text": "a", "empty": "", "five": int64(5), "minus": int64(-5), "true": true,
		"bytes": []byte{0, 1}, "nobytes": []byte{}, "set": tables.NewSet("a", "b"),
		"map": tables.Map{"a": "a"}, "list": tables.List{"a", "b"},
	}
	items := map[string]tables.Item{"bare": item(k("state", "bare"), "y", "a")}
	for name, v := range all {
		items[name] = item(k("state", name), "x", v)
	}
	return items
}

// testConditions checks each condition on all states and on a missing item ("none"), in one
// transaction, so that several checks fail at once.
func testConditions(t *testing.T, b tables.Backend) {
	items := states()
	names := []string{"none"}
	for name, it := range items {
		names = append(names, name)
		mustCommit(t, b, tables.Put(it))
	}
	every := func(except ...string) string {
		var out []string
		for _, n := range names {
			if !strings.Contains(" "+strings.Join(except, " ")+" ", " "+n+" ") {
				out = append(out, n)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		cond  tables.Cond
		holds string
	}{
		{tables.Absent("x"), "none bare"},
		{tables.Present("x"), every("none", "bare")},
		{tables.NoItem(), "none"},
		{tables.ItemExists(), every("none")},

		{tables.Equal("x", "a"), "text"},
		{tables.Equal("x", ""), "empty"},
		{tables.Equal("x", "5"), ""},
		{tables.Equal("x", int64(5)), "five"},
		{tables.Equal("x", int64(0)), ""},
		{tables.Equal("x", true), "true"},
		{tables.Equal("x", false), ""},
		{tables.Equal("x", []byte{0, 1}), "bytes"},
		{tables.Equal("x", []byte{}), "nobytes"},
		{tables.NotEqual("x", "a"), every("text")},
		{tables.NotEqual("x", int64(5)), every("five")},
		{tables.NotEqual("x", true), every("true")},
		{tables.NotEqual("x", false), every()},
		{tables.NotEqual("x", []byte{0, 1}), every("bytes")},
		{tables.AbsentOrEqual("x", "a"), "none bare text"},
		{tables.AbsentOrEqual("x", int64(-5)), "none bare minus"},
		{tables.AbsentOrEqual("x", true), "none bare true"},
		{tables.AbsentOrEqual("x", []byte{}), "none bare nobytes"},

		{tables.AtLeast("x", 5), "five"},
		{tables.AtLeast("x", 6), ""},
		{tables.AtLeast("x", -5), "five minus"},
		{tables.AtLeast("x", math.MinInt64), "five minus"},
		{tables.Before("x", 5), "minus"},
		{tables.Before("x", 6), "five minus"},
		{tables.Before("x", -5), ""},
		{tables.Before("x", math.MaxInt64), "five minus"},
		{tables.AbsentOrBefore("x", 5), "none bare minus"},
		{tables.AbsentOrBefore("x", -5), "none bare"},

		{tables.ContainsOrSizeBelow("x", "a", 1), "none bare set"},
		{tables.ContainsOrSizeBelow("x", "", 0), "none bare"},
		{tables.ContainsOrSizeBelow("x", "c", 2), "none bare"},
		{tables.ContainsOrSizeBelow("x", "c", 3), "none bare set"},
	} {
		t.Run(fmt.Sprintf("%d %v%s", c.cond.Op, c.cond.Value, c.cond.Elem), func(t *testing.T) {
			var checks []tables.Write
			want := make([]tables.Reason, len(names))
			any := false
			for i, name := range names {
				checks = append(checks, tables.Check(k("state", name), c.cond))
				if !strings.Contains(" "+c.holds+" ", " "+name+" ") {
					want[i] = tables.Reason{Failed: true, Old: items[name]}
					any = true
				}
			}
			err := commit(t.Context(), b, checks...)
			if !any {
				if err != nil {
					t.Errorf("commit of the checks: got %v, want no error", err)
				}
				return
			}
			failed, ok := errors.AsType[*tables.Cancelled](err)
			if !ok {
				t.Fatalf("commit of the checks: got %v, want a *Cancelled", err)
			}
			for i, name := range names {
				if !reflect.DeepEqual(failed.Reasons[i], want[i]) {
					t.Errorf("reason of item %s: got %v, want %v", name, failed.Reasons[i], want[i])
				}
			}
		})
	}
}

func testConditionsOfOperations(t *testing.T, b tables.Backend) {
	there, absent, beside := k("op", "there"), k("op", "absent"), k("op", "beside")
	old := item(there, "n", int64(1), "b", []byte{0}, "s", tables.NewSet("x"))
	operations := map[string]func(tables.Key, ...tables.Cond) tables.Write{
		"put": func(key tables.Key, c ...tables.Cond) tables.Write { return tables.Put(item(key, "n", int64(2)), c...) },
		"change": func(key tables.Key, c ...tables.Cond) tables.Write {
			return tables.Change(key, tables.Add("n", 1)).When(c...)
		},
		"delete": tables.Delete,
		"check":  tables.Check,
	}
	results := map[string]tables.Item{
		"put": item(there, "n", int64(2)), "change": item(there, "n", int64(2), "b", []byte{0}, "s", tables.NewSet("x")),
		"delete": nil, "check": old,
	}
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			for _, others := range [][]tables.Write{nil, {tables.Put(item(beside))}} {
				mustCommit(t, b, tables.Put(old))
				mustCommit(t, b, tables.Delete(absent))
				mustCommit(t, b, tables.Delete(beside))
				noReason := make([]tables.Reason, len(others))

				mustCancel(t, b, append([]tables.Reason{{Failed: true, Old: old}}, noReason...),
					append([]tables.Write{op(there, tables.Equal("n", int64(7)))}, others...)...)
				mustCancel(t, b, append([]tables.Reason{{Failed: true, Old: old}}, noReason...),
					append([]tables.Write{op(there, tables.Equal("n", int64(1)), tables.Absent("b"))}, others...)...)
				mustCancel(t, b, append([]tables.Reason{{Failed: true}}, noReason...),
					append([]tables.Write{op(absent, tables.ItemExists())}, others...)...)
				wantItem(t, b, there, old)
				wantItem(t, b, absent, nil)
				wantItem(t, b, beside, nil)

				mustCommit(t, b, append([]tables.Write{
					op(there, tables.Equal("n", int64(1)), tables.ContainsOrSizeBelow("s", "x", 0), tables.Absent("none")),
				}, others...)...)
				wantItem(t, b, there, results[name])
			}
		})
	}
}

func testRefusedConditions(t *testing.T, b tables.Backend) {
	key := k("refused", "1")
	for name, c := range map[string]tables.Cond{
		"nothing":            {},
		"unknown":            {Op: 99, Attr: "x"},
		"equal to a set":     tables.Equal("x", tables.NewSet("a")),
		"equal to an int":    tables.Equal("x", 1),
		"equal to nil":       tables.Equal("x", nil),
		"equal to non-UTF-8": tables.Equal("x", "\xff"),
		"at least a string":  {Op: tables.CondAtLeast, Attr: "x", Value: "a"},
		"at least nothing":   {Op: tables.CondAtLeast, Attr: "x"},
		"size below an int":  {Op: tables.CondContainsOrSizeBelow, Attr: "x", Elem: "a", Value: 1},
		"of no attribute":    tables.Present(""),
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, b, tables.Delete(key, c)) })
	}
	t.Run("check of nothing", func(t *testing.T) { mustRefuse(t, b, tables.Check(key)) })
}
