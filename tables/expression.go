package tables

import (
	"bytes"
	"fmt"
	"math"
)

// CheckExpressions returns an ErrInvalid for a write with too many conditions or
// updates. Backends call it.
func (w Write) CheckExpressions() error {
	conds := len(w.If)
	for _, u := range w.Updates {
		if u.Op == UpdAdd {
			conds++ // a backend may have to guard the sum by a condition
		}
	}
	if conds > MaxConds {
		return fmt.Errorf("%w: a write has %d conditions and additions, more than %d", ErrInvalid, conds, MaxConds)
	}
	if len(w.Updates) > MaxUpdates {
		return fmt.Errorf("%w: a write has %d updates, more than %d", ErrInvalid, len(w.Updates), MaxUpdates)
	}
	return nil
}

// Overflows reports whether the conditions of w hold for the item old, and an [Add] in w
// would overflow an int64.
func (w Write) Overflows(old Item) bool {
	if w.Op != OpUpdate || !HoldAll(w.If, old) {
		return false
	}
	for _, u := range w.Updates {
		n, _ := u.Value.(int64)
		if _, ok := Sum(old.Int(u.Attr), n); u.Op == UpdAdd && !ok {
			return true
		}
	}
	return false
}

// Sum returns a + b. ok is false if that overflows an int64.
func Sum(a, b int64) (sum int64, ok bool) {
	if b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b {
		return 0, false
	}
	return a + b, true
}

// HoldAll reports whether all conditions, which must be valid, hold for an item. The
// item may be nil.
func HoldAll(conds []Cond, item Item) bool {
	for _, c := range conds {
		if !c.holds(item) {
			return false
		}
	}
	return true
}

func (c Cond) holds(item Item) bool {
	v, present := item[c.Attr]
	switch c.Op {
	case CondAbsent:
		return !present
	case CondPresent:
		return present
	case CondEqual:
		return present && equalScalar(v, c.Value)
	case CondAbsentOrEqual:
		return !present || equalScalar(v, c.Value)
	case CondNotEqual:
		return !present || !equalScalar(v, c.Value)
	case CondAtLeast:
		n, ok := v.(int64)
		return ok && n >= c.Value.(int64)
	case CondBefore:
		n, ok := v.(int64)
		return ok && n < c.Value.(int64)
	case CondAbsentOrBefore:
		n, ok := v.(int64)
		return !present || ok && n < c.Value.(int64)
	case CondContainsOrSizeBelow:
		s, ok := v.(Set)
		return !present || ok && (s.Has(c.Elem) || int64(len(s)) < c.Value.(int64))
	}
	return false
}

func equalScalar(v, scalar any) bool {
	switch s := scalar.(type) {
	case string, int64, bool:
		return v == s
	case []byte:
		b, ok := v.([]byte)
		return ok && bytes.Equal(b, s)
	}
	return false
}
