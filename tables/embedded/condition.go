package embedded

import (
	"bytes"
	"unicode/utf8"

	"agentsocial/tables"
)

// holds reports whether all conditions, which have passed checkCond, hold for an
// item. The item may be nil.
func holds(conds []tables.Cond, item tables.Item) bool {
	for _, c := range conds {
		if !condHolds(c, item) {
			return false
		}
	}
	return true
}

func condHolds(c tables.Cond, item tables.Item) bool {
	v, present := item[c.Attr]
	switch c.Op {
	case tables.CondAbsent:
		return !present
	case tables.CondPresent:
		return present
	case tables.CondEqual:
		return present && equal(v, c.Value)
	case tables.CondAbsentOrEqual:
		return !present || equal(v, c.Value)
	case tables.CondNotEqual:
		return !present || !equal(v, c.Value)
	case tables.CondAtLeast:
		n, ok := v.(int64)
		return ok && n >= c.Value.(int64)
	case tables.CondBefore:
		n, ok := v.(int64)
		return ok && n < c.Value.(int64)
	case tables.CondAbsentOrBefore:
		n, ok := v.(int64)
		return !present || ok && n < c.Value.(int64)
	case tables.CondContainsOrSizeBelow:
		s, ok := v.(tables.Set)
		return !present || ok && (s.Has(c.Elem) || int64(len(s)) < c.Value.(int64))
	}
	return false
}

// equal compares an attribute with a scalar.
func equal(v, scalar any) bool {
	switch s := scalar.(type) {
	case string, int64, bool:
		return v == s
	case []byte:
		b, ok := v.([]byte)
		return ok && bytes.Equal(b, s)
	}
	return false
}

// checkCond refuses an invalid condition.
func checkCond(c tables.Cond) error {
	if c.Attr == "" || !utf8.ValidString(c.Attr) || !utf8.ValidString(c.Elem) {
		return invalid("a condition's attribute %q is empty, or it or its member %q is not UTF-8", c.Attr, c.Elem)
	}
	switch c.Op {
	case tables.CondAbsent, tables.CondPresent:
		return nil
	case tables.CondEqual, tables.CondAbsentOrEqual, tables.CondNotEqual:
		switch v := c.Value.(type) {
		case string:
			if utf8.ValidString(v) {
				return nil
			}
		case int64, bool, []byte:
			return nil
		}
		return invalid("%s is compared with a %T", c.Attr, c.Value)
	case tables.CondAtLeast, tables.CondBefore, tables.CondAbsentOrBefore, tables.CondContainsOrSizeBelow:
	default:
		return invalid("unknown condition %d", c.Op)
	}
	if _, ok := c.Value.(int64); !ok {
		return invalid("%s is compared with a %T, not an int64", c.Attr, c.Value)
	}
	return nil
}
