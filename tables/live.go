package tables

import (
	"slices"
	"strings"
)

// Live are an agent's live tokens, link codes or grants: the id and the
// expiry of each, in one item, so that how many there are is known by one read
// and by the clock, whenever TTL gets to what has expired. Whoever adds one puts
// the item anew, on the condition that it is the one that was read, and whoever
// takes one away changes its version too: so a cap on how many there may be is
// exact.
type Live struct {
	key     Key
	typ     string
	epoch   int64
	now     int64
	version int64
	expires map[string]int64 // by id: unix ms; 0: never
	ends    bool             // all of them expire, and the list with the last
}

// liveAttr begins the attributes that hold an expiry; the id follows.
const liveAttr = "id:"

// readLive drops what has expired, and everything if it is of another epoch.
func readLive(key Key, typ string, item Item, epoch, now int64) Live {
	l := Live{key: key, typ: typ, epoch: epoch, now: now, version: item.Int("version"), expires: map[string]int64{}}
	if item.Int("epoch") != epoch {
		return l
	}
	for attr := range item {
		id, ok := strings.CutPrefix(attr, liveAttr)
		if expires := item.Int(attr); ok && (expires == 0 || expires > now) {
			l.expires[id] = expires
		}
	}
	return l
}

// Again is what stands where l was read, from its item.
func (l Live) Again(item Item) Live {
	again := readLive(l.key, l.typ, item, l.epoch, l.now)
	again.ends = l.ends
	return again
}

// Len is how many are alive.
func (l Live) Len() int { return len(l.expires) }

// IDs are those that are alive, oldest first.
func (l Live) IDs() []string {
	ids := make([]string, 0, len(l.expires))
	for id := range l.expires {
		ids = append(ids, id)
	}
	slices.Sort(ids) // which begin with the time
	return ids
}

// Add puts one more into the list, on the condition that the list is still the
// one that was read, and of no later epoch.
func (l Live) Add(id string, expires int64) Write {
	item := keyed(l.key, l.typ, Item{"epoch": l.epoch, "version": l.version + 1, liveAttr + id: expires})
	last := expires
	for id, expires := range l.expires {
		item[liveAttr+id] = expires
		last = max(last, expires)
	}
	if l.ends {
		item[AttrTTL] = last/1000 + 1
	}
	return Put(item, AbsentOrEqual("version", l.version), AbsentOrBefore("epoch", l.epoch+1))
}

// Extend has one of them that is there expire later, with what [Live.Add] puts.
func (l Live) Extend(id string, expires int64) {
	if _, ok := l.expires[id]; ok {
		l.expires[id] = expires
	}
}

// Drop leaves one out of what [Live.Add] puts.
func (l Live) Drop(id string) { delete(l.expires, id) }

// unlist takes one out of a list.
func unlist(key Key, typ, id string) Write {
	return Change(key, SetAttr(AttrType, typ), RemoveAttr(liveAttr+id), Add("version", 1))
}
