package tables

import (
	"slices"
	"strings"
)

// Live lists the id and expiry of each of an agent's live tokens, link codes or grants, in
// one item. So one read tells how many there are, even before TTL removes expired ones.
// Adding an entry requires that the list is as read, so a cap is exact.
type Live struct {
	key     Key
	typ     string
	epoch   int64
	now     int64
	version int64
	expires map[string]int64 // by id: unix ms; 0: never
	ends    bool             // all entries expire, and the list expires with the last entry
}

// liveAttr begins the attributes that hold an expiry; the id follows.
const liveAttr = "id:"

// readLive reads a list without its expired entries. A list of another epoch counts as empty.
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

// Again reads the list from its current item.
func (l Live) Again(item Item) Live {
	again := readLive(l.key, l.typ, item, l.epoch, l.now)
	again.ends = l.ends
	return again
}

// Len returns the number of live entries.
func (l Live) Len() int { return len(l.expires) }

// IDs returns the ids of the live entries, oldest first.
func (l Live) IDs() []string {
	ids := make([]string, 0, len(l.expires))
	for id := range l.expires {
		ids = append(ids, id)
	}
	slices.Sort(ids) // ids begin with the time
	return ids
}

// Add adds an entry, on condition that the list is as read and not of a later
// epoch.
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

// Extend changes the expiry of an entry in the list that [Live.Add] puts.
func (l Live) Extend(id string, expires int64) {
	if _, ok := l.expires[id]; ok {
		l.expires[id] = expires
	}
}

// Drop leaves an entry out of the list that [Live.Add] puts.
func (l Live) Drop(id string) { delete(l.expires, id) }

func unlist(key Key, typ, id string) Write {
	return Change(key, SetAttr(AttrType, typ), RemoveAttr(liveAttr+id), Add("version", 1))
}
