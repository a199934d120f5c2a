package embedded

import (
	"encoding/binary"
	"maps"
	"slices"

	"agentsocial/tables"
)

// updatedItem returns the item after updates. old may be nil and is not changed.
func updatedItem(key tables.Key, old tables.Item, updates []tables.Update) (*stored, error) {
	item, err := updated(key, old, updates)
	if err != nil {
		return nil, err
	}
	encoded, err := encodeItem(item)
	if err != nil {
		return nil, err
	}
	return checkedItem(item, encoded)
}

// updated returns the item after updates. It shares values with old and with the updates.
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
	sum, ok := tables.Sum(n, u.Value.(int64))
	if !ok {
		return 0, invalid("%s overflows an int64", u.Attr)
	}
	return sum, nil
}

func changedSet(set tables.Set, u tables.Update) tables.Set {
	members := u.Value.(tables.Set)
	if u.Op == tables.UpdAddToSet {
		return tables.NewSet(slices.Concat(set, members)...)
	}
	gone := tables.NewSet(members...) // sorted, unlike the caller's
	return slices.DeleteFunc(slices.Clone(set), gone.Has)
}

// appendUpdates encodes updates, and refuses those that are invalid for every item.
func appendUpdates(b []byte, updates []tables.Update) ([]byte, error) {
	if len(updates) == 0 {
		return nil, invalid("an update without changes")
	}
	b = binary.AppendUvarint(b, uint64(len(updates)))
	for i, u := range updates {
		if err := checkName(u.Attr); err != nil {
			return nil, err
		}
		switch {
		case u.Attr == tables.AttrPK || u.Attr == tables.AttrSK:
			return nil, invalid("an update of the key's %s", u.Attr)
		case slices.ContainsFunc(updates[:i], func(o tables.Update) bool { return o.Attr == u.Attr }):
			return nil, invalid("two updates of %s", u.Attr)
		}
		var err error
		if b, err = appendUpdate(appendString(append(b, byte(u.Op)), u.Attr), u); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendUpdate(b []byte, u tables.Update) ([]byte, error) {
	switch u.Op {
	case tables.UpdRemove:
		return appendOperand(b, u.Value), nil
	case tables.UpdSet:
		return appendValue(b, u.Value, 0)
	case tables.UpdAdd:
		if _, ok := u.Value.(int64); !ok {
			return nil, invalid("%s: a %T cannot be added", u.Attr, u.Value)
		}
		return appendValue(b, u.Value, 0)
	case tables.UpdAddToSet, tables.UpdRemoveFromSet:
		s, ok := u.Value.(tables.Set)
		if !ok {
			return nil, invalid("%s: got a %T, want a set", u.Attr, u.Value)
		}
		return appendSet(b, s)
	}
	return nil, invalid("unknown update %d", u.Op)
}
