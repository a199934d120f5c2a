package tables

import (
	"fmt"
	"strings"
)

// Lane is a part of a sum on its way to its target, the item that has the sum. If many
// executions of the function tally add to one target at once, their transactions conflict.
// Then each adds to one of the target's lanes instead. All lanes of a target are in one
// partition, and so in one shard of the stream. Only the execution that reads this shard
// moves them to the target. Moving a lane deletes it, on condition that its sum is
// unchanged. So a lane is its own marker.
type Lane struct {
	To      string `db:"to"`      // kind of the sum, as events/tally names it
	Name    string `db:"name"`    // of the target: an agent, a channel, a post
	Channel string `db:"channel"` // of a post
	N       int64  `db:"n,keep"`
	At      int64  `db:"at"`    // unix ms of the newest activity; 0 if the sum has none
	Waits   int64  `db:"waits"` // how often other writers of the target kept the lane from being moved
}

// TypeLane is the item type of a lane.
const TypeLane = "lane"

// LanesMost bounds the lanes of a sum. Each writer chooses a lane at random.
const LanesMost = 16

const lanePrefix = "LANE#"

// LaneKey is the key of one of a sum's [LanesMost] lanes.
func LaneKey(target Key, to string, n int64) Key {
	return TallyMarkerKey(target.PK+"/"+target.SK, fmt.Sprintf("%s%s#%02d", lanePrefix, to, n))
}

// LaneOf returns the kind of a lane's sum, for a key made by [LaneKey].
func LaneOf(k Key) string {
	to, _, _ := strings.Cut(strings.TrimPrefix(k.SK, lanePrefix), "#")
	return to
}

// Lanes queries the lanes of one kind of sum. pk is the partition of the target's lanes.
func Lanes(pk, to string) Query {
	return Query{PK: pk, From: lanePrefix + to + "#", To: lanePrefix + to + "#~", Consistency: Strong}
}

// Add adds n and the time of an activity (0 if none) to the lane with a key. old is the
// lane's item as read, or nil. If at is later than the lane's time, Add requires that this
// time is unchanged.
func (l Lane) Add(key Key, old Item, n, at int64) Write {
	w := Change(key, SetAttr(AttrType, TypeLane), SetAttr("to", l.To), SetAttr("name", l.Name), orRemove("channel", l.Channel), Add("n", n))
	if newest := old.Int("at"); at > newest {
		w.Updates = append(w.Updates, SetAttr("at", at))
		w = w.When(unchanged("at", newest))
	}
	return w
}

// Take deletes a lane, and requires that it still has the same sum and time.
func (l Lane) Take(key Key) Write { return Delete(key, Equal("n", l.N), unchanged("at", l.At)) }

// Wait makes the stream deliver the lane again.
func (l Lane) Wait(key Key) Write { return Change(key, Add("waits", 1)).When(ItemExists()) }

// unchanged holds if an attribute still has a value. The attribute is never stored as 0:
// a value of 0 means that it is absent.
func unchanged(attr string, value int64) Cond {
	if value == 0 {
		return Absent(attr)
	}
	return Equal(attr, value)
}
