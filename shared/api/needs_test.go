package api

import (
	"reflect"
	"testing"
)

// Two groups in one function need whatever one of them does.
func TestNeedsOfTwo(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[Needs]())
	for i, f := range fields {
		var one Needs
		switch v := reflect.ValueOf(&one).Elem().Field(i); v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.String:
			v.SetString("A")
		default:
			t.Fatalf("%s is of a kind that this test does not know", f.Name)
		}
		for _, both := range []Needs{one.And(Needs{}), (Needs{}).And(one)} {
			if !reflect.DeepEqual(both, one) {
				t.Errorf("of what needs %s and what needs nothing: %+v", f.Name, both)
			}
		}
	}
}
