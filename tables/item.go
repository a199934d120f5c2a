package tables

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Item is an item of the table: attribute name → value. A value is a string,
// int64, bool, []byte, Set, Map or List. Both backends return exactly these
// types.
type Item map[string]any

// Map and List are nested values.
type (
	Map  = map[string]any
	List = []any
)

// Set is a set of strings: sorted, without duplicates, never empty (an empty
// set is an absent attribute).
type Set []string

// NewSet makes a set; order and duplicates do not matter.
func NewSet(members ...string) Set {
	s := slices.Clone(members)
	slices.Sort(s)
	return Set(slices.Compact(s))
}

// Has reports whether m is a member.
func (s Set) Has(m string) bool { _, ok := slices.BinarySearch(s, m); return ok }

// Key returns the item's primary key.
func (i Item) Key() Key {
	pk, _ := i[AttrPK].(string)
	sk, _ := i[AttrSK].(string)
	return Key{pk, sk}
}

// Int returns a number; 0 if the attribute is absent or not a number.
func (i Item) Int(attr string) int64 { n, _ := i[attr].(int64); return n }

// Str returns a string; "" if the attribute is absent or not a string.
func (i Item) Str(attr string) string { s, _ := i[attr].(string); return s }

// Bool returns a boolean; false if the attribute is absent or not a boolean.
func (i Item) Bool(attr string) bool { b, _ := i[attr].(bool); return b }

// Equal reports whether two items have the same attributes and values.
func (i Item) Equal(o Item) bool { return same(Map(i), Map(o)) }

// Marshal makes an item of a struct's fields with a `db:"name"` tag. It leaves out
// zero values; `db:"name,keep"` keeps them, unless nil or an empty Set or List.
// Fields may be string, bool, a signed integer, []byte, Set, []string (a List), Map,
// a struct (a Map), a pointer to any of these, or an embedded struct (flattened). It
// panics on any other type.
func Marshal(v any) Item {
	item := Item{}
	marshal(reflect.Indirect(reflect.ValueOf(v)), item)
	return item
}

// Unmarshal is the reverse of [Marshal]. It ignores unknown attributes, so an
// old program can read what a newer one wrote. An attribute that does not fit its
// field is an error.
func Unmarshal(item Item, v any) error {
	return unmarshal(item, reflect.ValueOf(v).Elem())
}

type field struct {
	index  int
	name   string
	keep   bool
	inline bool
}

var fieldCache sync.Map // reflect.Type → []field

func fieldsOf(t reflect.Type) []field {
	if f, ok := fieldCache.Load(t); ok {
		return f.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			fields = append(fields, field{index: i, inline: true})
			continue
		}
		name, opt, _ := strings.Cut(f.Tag.Get("db"), ",")
		if name == "" {
			continue
		}
		fields = append(fields, field{index: i, name: name, keep: opt == "keep"})
	}
	fieldCache.Store(t, fields)
	return fields
}

func marshal(v reflect.Value, into map[string]any) {
	for _, f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		if f.inline {
			marshal(fv, into)
			continue
		}
		if fv.IsZero() && !f.keep {
			continue
		}
		if a, ok := attribute(fv); ok {
			into[f.name] = a
		}
	}
}

func attribute(v reflect.Value) (any, bool) {
	switch v.Kind() {
	case reflect.String:
		return v.String(), true
	case reflect.Bool:
		return v.Bool(), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), true
	case reflect.Pointer:
		if v.IsNil() {
			return nil, false
		}
		return attribute(v.Elem())
	case reflect.Struct:
		m := Map{}
		marshal(v, m)
		return m, true
	}
	switch x := v.Interface().(type) {
	case []byte:
		return x, x != nil
	case Set:
		return x, len(x) > 0
	case Map:
		return x, x != nil
	}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String {
		l := make(List, v.Len())
		for i := range l {
			l[i] = v.Index(i).String()
		}
		return l, v.Len() > 0
	}
	panic(fmt.Sprintf("tables: cannot store the type %s", v.Type()))
}

func unmarshal(from map[string]any, v reflect.Value) error {
	for _, f := range fieldsOf(v.Type()) {
		fv := v.Field(f.index)
		if f.inline {
			if err := unmarshal(from, fv); err != nil {
				return err
			}
			continue
		}
		a, ok := from[f.name]
		if !ok {
			fv.SetZero()
			continue
		}
		if err := assign(a, fv); err != nil {
			return fmt.Errorf("tables: attribute %q: %w", f.name, err)
		}
	}
	return nil
}

func assign(a any, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if s, ok := a.(string); ok {
			v.SetString(s)
			return nil
		}
	case reflect.Bool:
		if b, ok := a.(bool); ok {
			v.SetBool(b)
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n, ok := a.(int64); ok {
			if v.OverflowInt(n) {
				return fmt.Errorf("%d does not fit the type %s", n, v.Type())
			}
			v.SetInt(n)
			return nil
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return assign(a, v.Elem())
	case reflect.Struct:
		if m, ok := a.(Map); ok {
			return unmarshal(m, v)
		}
	default:
		if reflect.TypeOf(a) == v.Type() {
			v.Set(reflect.ValueOf(a))
			return nil
		}
		l, ok := a.(List)
		if !ok || v.Kind() != reflect.Slice || v.Type().Elem().Kind() != reflect.String || v.Type() == reflect.TypeFor[Set]() {
			break
		}
		out := reflect.MakeSlice(v.Type(), len(l), len(l))
		for i, e := range l {
			s, ok := e.(string)
			if !ok {
				return fmt.Errorf("got a list with a value of type %T, want only strings", e)
			}
			out.Index(i).SetString(s)
		}
		v.Set(out)
		return nil
	}
	return fmt.Errorf("got a value of type %T, want %s", a, v.Type())
}

// dayOf returns a time's UTC day, such as "20261121".
func dayOf(t time.Time) string { return t.UTC().Format("20060102") }
