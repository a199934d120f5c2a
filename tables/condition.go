package tables

// Cond is a condition on one item as it is before a transaction. Each is implemented
// twice: as a DynamoDB condition expression, and in [HoldAll] for the embedded table. If
// an attribute has another type than the value, [NotEqual] holds and every other
// comparison fails.
type Cond struct {
	Op    CondOp
	Attr  string
	Value any    // any scalar if Op compares for equality; nil for Absent and Present; else int64
	Elem  string // see [ContainsOrSizeBelow]
}

// CondOp names a condition.
type CondOp int

const (
	CondAbsent CondOp = iota + 1
	CondPresent
	CondEqual
	CondAbsentOrEqual
	CondNotEqual
	CondAtLeast
	CondBefore
	CondAbsentOrBefore
	CondContainsOrSizeBelow
)

// Absent holds if the attribute (or, for "pk", the item) does not exist.
func Absent(attr string) Cond { return Cond{Op: CondAbsent, Attr: attr} }

// Present holds if the attribute (or, for "pk", the item) exists.
func Present(attr string) Cond { return Cond{Op: CondPresent, Attr: attr} }

// NoItem holds if there is no item under the key.
func NoItem() Cond { return Absent(AttrPK) }

// ItemExists holds if there is an item under the key.
func ItemExists() Cond { return Present(AttrPK) }

// Equal holds if the attribute has this value: a string, int64, bool or []byte.
func Equal(attr string, v any) Cond { return Cond{Op: CondEqual, Attr: attr, Value: v} }

// NotEqual holds if the attribute is absent or has another value.
func NotEqual(attr string, v any) Cond { return Cond{Op: CondNotEqual, Attr: attr, Value: v} }

// AbsentOrEqual holds if the attribute is absent or has this value.
func AbsentOrEqual(attr string, v any) Cond { return Cond{Op: CondAbsentOrEqual, Attr: attr, Value: v} }

// AtLeast holds if the attribute is a number ≥ n.
func AtLeast(attr string, n int64) Cond { return Cond{Op: CondAtLeast, Attr: attr, Value: n} }

// Before holds if the attribute is a number < n.
func Before(attr string, n int64) Cond { return Cond{Op: CondBefore, Attr: attr, Value: n} }

// AbsentOrBefore holds if the attribute is absent or a number < n.
func AbsentOrBefore(attr string, n int64) Cond {
	return Cond{Op: CondAbsentOrBefore, Attr: attr, Value: n}
}

// ContainsOrSizeBelow holds if the attribute is absent, or is a set that has the member
// elem or fewer than n members.
func ContainsOrSizeBelow(attr, elem string, n int64) Cond {
	return Cond{Op: CondContainsOrSizeBelow, Attr: attr, Value: n, Elem: elem}
}

// Update changes one attribute of an item.
type Update struct {
	Op    UpdateOp
	Attr  string
	Value any // any value of an Item for UpdSet, nil for UpdRemove, int64 for UpdAdd, a Set for the others
}

// UpdateOp names an update.
type UpdateOp int

const (
	UpdSet UpdateOp = iota + 1
	UpdRemove
	UpdAdd
	UpdAddToSet
	UpdRemoveFromSet
)

// SetAttr sets an attribute.
func SetAttr(attr string, v any) Update { return Update{Op: UpdSet, Attr: attr, Value: v} }

// RemoveAttr removes an attribute, if it is there.
func RemoveAttr(attr string) Update { return Update{Op: UpdRemove, Attr: attr} }

// Add adds n, which may be negative, to a number; an absent one counts as 0.
func Add(attr string, n int64) Update { return Update{Op: UpdAdd, Attr: attr, Value: n} }

// AddToSet adds members to a set; an absent one counts as empty.
func AddToSet(attr string, members ...string) Update {
	return Update{Op: UpdAddToSet, Attr: attr, Value: NewSet(members...)}
}

// RemoveFromSet removes members from a set; a set left empty is removed.
func RemoveFromSet(attr string, members ...string) Update {
	return Update{Op: UpdRemoveFromSet, Attr: attr, Value: NewSet(members...)}
}
