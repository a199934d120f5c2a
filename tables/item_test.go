package tables

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type kind string

type inner struct {
	Note string `db:"note"`
	N    int64  `db:"n"`
}

type base struct {
	PK string `db:"pk"`
	SK string `db:"sk"`
}

type record struct {
	base
	Kind    kind     `db:"kind"`
	Name    string   `db:"name,keep"`
	Count   int      `db:"count"`
	Small   int8     `db:"small"`
	Zero    int64    `db:"zero,keep"`
	Flag    bool     `db:"flag"`
	Body    []byte   `db:"body"`
	Tags    Set      `db:"tags"`
	List    []string `db:"list"`
	Kinds   []kind   `db:"kinds"`
	Map     Map      `db:"map"`
	Inner   inner    `db:"inner"`
	Pointer *inner   `db:"pointer"`
	Limit   *int64   `db:"limit"`
	Unnamed string
}

func full() record {
	n := int64(0)
	return record{
		base: base{"P", "S"}, Kind: "post", Name: "n", Count: -3, Small: 7, Zero: 9, Flag: true,
		Body: []byte("b"), Tags: NewSet("y", "x"), List: []string{"1", ""}, Kinds: []kind{"a"},
		Map: Map{"k": List{int64(1)}}, Inner: inner{"in", 1}, Pointer: &inner{N: 2}, Limit: &n,
	}
}

func TestMarshal(t *testing.T) {
	want := Item{
		"pk": "P", "sk": "S", "kind": "post", "name": "n", "count": int64(-3), "small": int64(7), "zero": int64(9), "flag": true,
		"body": []byte("b"), "tags": Set{"x", "y"}, "list": List{"1", ""}, "kinds": List{"a"},
		"map": Map{"k": List{int64(1)}}, "inner": Map{"note": "in", "n": int64(1)}, "pointer": Map{"n": int64(2)}, "limit": int64(0),
	}
	r := full()
	r.Unnamed = "not stored"
	if got := Marshal(&r); !reflect.DeepEqual(got, want) {
		t.Fatalf("Marshal: got %#v, want %#v", got, want)
	}
	want = Item{"name": "", "zero": int64(0)}
	for _, zero := range []record{{}, {Tags: Set{}, List: []string{}}} {
		if got := Marshal(zero); !reflect.DeepEqual(got, want) {
			t.Fatalf("Marshal of zero values: got %#v, want %#v", got, want)
		}
	}
}

func TestUnmarshal(t *testing.T) {
	item := Marshal(full())
	item["of_a_newer_program"] = true
	got := record{Unnamed: "unchanged"}
	want := full()
	want.Unnamed = "unchanged"
	if err := Unmarshal(item, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Unmarshal: got %+v, %v; want %+v", got, err, want)
	}
	if err := Unmarshal(Item{}, &got); err != nil || !reflect.DeepEqual(got, record{Unnamed: "unchanged"}) {
		t.Fatalf("Unmarshal of no attributes: got %+v, %v; want zero values, and Unnamed unchanged", got, err)
	}
}

func TestUnmarshal_WrongTypes(t *testing.T) {
	for attr, v := range map[string]any{
		"kind":    int64(1),
		"count":   "1",
		"small":   int64(128),
		"flag":    "true",
		"body":    "text",
		"tags":    "text",
		"list":    Set{"a"},
		"kinds":   List{"a", int64(1)},
		"map":     List{},
		"inner":   "text",
		"pointer": Map{"n": "text"},
		"limit":   true,
	} {
		err := Unmarshal(Item{attr: v}, new(record))
		if err == nil || !strings.Contains(err.Error(), attr) {
			t.Errorf("Unmarshal of %s = %#v: got %v, want an error that names the attribute", attr, v, err)
		}
	}
}

func TestMarshal_Panics(t *testing.T) {
	for _, v := range []any{
		struct {
			F float64 `db:"f"`
		}{1},
		struct {
			L []int `db:"l"`
		}{[]int{1}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Marshal(%T) did not panic", v)
				}
			}()
			Marshal(v)
		}()
	}
}

func TestMarshal_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r, back record
		r.PK, r.Name = rapid.String().Draw(t, "pk"), rapid.String().Draw(t, "name")
		r.Count, r.Small = rapid.Int().Draw(t, "count"), rapid.Int8().Draw(t, "small")
		r.Flag, r.Kind = rapid.Bool().Draw(t, "flag"), kind(rapid.String().Draw(t, "kind"))
		r.Inner.N = rapid.Int64().Draw(t, "n")
		if l := rapid.SliceOf(rapid.String()).Draw(t, "list"); len(l) > 0 {
			r.List, r.Tags = l, NewSet(l...)
		}
		if err := Unmarshal(Marshal(r), &back); err != nil || !reflect.DeepEqual(back, r) {
			t.Fatalf("Unmarshal of a marshalled record: got %+v, %v; want %+v", back, err, r)
		}
	})
}

func TestItemAccess(t *testing.T) {
	i := Item{"pk": "P", "sk": "S", "n": int64(1), "b": true}
	if i.Key() != (Key{PK: "P", SK: "S"}) || i.Int("n") != 1 || i.Str("n") != "" || !i.Bool("b") || i.Int("b") != 0 || Item(nil).Str("x") != "" {
		t.Fatalf("accessors of %v: got a wrong value, want the stored value, or zero for another type", i)
	}
	if s := NewSet("b", "a", "b"); len(s) != 2 || !s.Has("a") || s.Has("c") || len(NewSet()) != 0 {
		t.Fatalf("NewSet of b, a, b: got %v, Has of a and c: %t and %t, NewSet of nothing: %v; want [a b], true, false, []", s, s.Has("a"), s.Has("c"), NewSet())
	}
}
