package embedded

import (
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"agentsocial/tables"
)

// updated is the item that updates make of an item; old is left as it is and
// may be nil. The result may share values with old and with the updates.
func updated(key tables.Key, old tables.Item, updates []tables.Update) (tables.Item, error) {
	item := maps.Clone(old)
	if item == nil {
		item = tables.Item{tables.AttrPK: key.PK, tables.AttrSK: key.SK}
	}
	for _, u := range updates {
		v, present := item[u.Attr]
		switch u.Op {
		case tables.UpdSet:
			item[u.Attr] = u.Value
		case tables.UpdRemove:
			delete(item, u.Attr)
		case tables.UpdAdd:
			sum, err := added(u, v, present)
			if err != nil {
				return nil, err
			}
			item[u.Attr] = sum
		case tables.UpdAddToSet, tables.UpdRemoveFromSet:
			set, ok := v.(tables.Set)
			if present && !ok {
				return nil, invalid("%s is a %T, not a set", u.Attr, v)
			}
			if set = changedSet(set, u); len(set) > 0 {
				item[u.Attr] = set
			} else {
				delete(item, u.Attr)
			}
		}
	}
	return item, nil
}

func added(u tables.Update, v any, present bool) (int64, error) {
	n, ok := v.(int64)
	if present && !ok {
		return 0, invalid("%s is a %T, not a number", u.Attr, v)
	}
	d := u.Value.(int64)
	if d > 0 && n > math.MaxInt64-d || d < 0 && n < math.MinInt64-d {
		return 0, invalid("%s would no longer fit an int64", u.Attr)
	}
	return n + d, nil
}

func changedSet(set tables.Set, u tables.Update) tables.Set {
	members := u.Value.(tables.Set)
	if u.Op == tables.UpdAddToSet {
		return tables.NewSet(slices.Concat(set, members)...)
	}
	gone := tables.NewSet(members...) // sorted, whatever the caller did
	return slices.DeleteFunc(slices.Clone(set), gone.Has)
}

// checkUpdates refuses updates that no item could bear.
func checkUpdates(updates []tables.Update) error {
	if len(updates) == 0 {
		return invalid("an update without changes")
	}
	seen := make(map[string]bool, len(updates))
	for _, u := range updates {
		switch {
		case u.Attr == "" || !utf8.ValidString(u.Attr):
			return invalid("an update of an attribute named %q", u.Attr)
		case u.Attr == tables.AttrPK || u.Attr == tables.AttrSK:
			return invalid("an update of the key's %s", u.Attr)
		case seen[u.Attr]:
			return invalid("two updates of %s", u.Attr)
		}
		seen[u.Attr] = true
		if err := checkUpdate(u); err != nil {
			return err
		}
	}
	return nil
}

func checkUpdate(u tables.Update) error {
	switch u.Op {
	case tables.UpdRemove:
		return nil
	case tables.UpdSet:
		_, err := appendValue(nil, u.Value, 0)
		return err
	case tables.UpdAdd:
		if _, ok := u.Value.(int64); !ok {
			return invalid("a %T is added to %s", u.Value, u.Attr)
		}
		return nil
	case tables.UpdAddToSet, tables.UpdRemoveFromSet:
		s, ok := u.Value.(tables.Set)
		if !ok {
			return invalid("a %T where a set's members for %s are expected", u.Value, u.Attr)
		}
		_, err := appendSet(nil, s)
		return err
	}
	return invalid("update %d is none", u.Op)
}
