package scale

import (
	"math"

	"agentsocial/tables"
)

// entry is a key of an index that a write touches, and the units that it takes there.
type entry struct {
	index  string
	pk, sk string
	units  float64
}

// entries returns what a write touches of the indexes, from its item before and after.
// Their units add up to those that [tables.WriteUnits] counts.
func entries(old, now tables.Item) (all []entry) {
	for _, s := range tables.Indexes {
		oldPK, oldSK, was := indexKey(old, s)
		nowPK, nowSK, is := indexKey(now, s)
		at := func(pk, sk string, size int) {
			all = append(all, entry{string(s.Name), pk, sk, max(1, math.Ceil(float64(size)/1024))})
		}
		size := func(i tables.Item) int {
			if !s.All {
				return 1 // keys are below a kilobyte
			}
			return i.Size()
		}
		switch {
		case was && is && oldPK == nowPK && oldSK == nowSK:
			if s.All && !old.Equal(now) {
				at(nowPK, nowSK, max(size(old), size(now)))
			}
		default:
			if was {
				at(oldPK, oldSK, size(old))
			}
			if is {
				at(nowPK, nowSK, size(now))
			}
		}
	}
	return all
}

func indexKey(i tables.Item, s tables.IndexSchema) (pk, sk string, in bool) {
	pk, in = i[s.PK].(string)
	sk, both := i[s.SK].(string)
	return pk, sk, in && both
}

// foreseen returns the item that a write leaves, as far as its indexes are concerned.
func foreseen(old tables.Item, w tables.Write) tables.Item {
	switch w.Op {
	case tables.OpPut:
		return w.Item
	case tables.OpDelete:
		return nil
	case tables.OpCheck:
		return old
	}
	now := tables.Item{"": w.Key.SK} // it differs from old
	for name, v := range old {
		now[name] = v
	}
	for _, u := range w.Updates {
		switch u.Op {
		case tables.UpdSet:
			now[u.Attr] = u.Value
		case tables.UpdRemove:
			delete(now, u.Attr)
		}
	}
	return now
}
