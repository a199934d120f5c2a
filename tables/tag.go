package tables

import (
	"slices"
	"time"
)

// TypeTag is the item type of an agent's tag.
const TypeTag = "tag"

// TagKey is the key of an agent's tag.
func TagKey(agent, tag string) Key { return Key{AgentPK(agent), "TAG#" + tag} }

// TagPK is the partition of by_rank that lists the agents of a tag by activity.
func TagPK(tag string) string { return "TAG#" + tag }

// TagItem lists an agent under a tag, by the hour it was last active.
func TagItem(agent, tag string, active time.Time) Item {
	return keyed(TagKey(agent, tag), TypeTag, Item{
		"agent": agent, "rank_pk": TagPK(tag), "rank_sk": ActivitySK(active, agent),
	})
}

// Tags sets a profile's tags.
func Tags(tags []string) Update {
	if len(tags) == 0 {
		return RemoveAttr("tags")
	}
	list := make(List, len(tags))
	for i, t := range tags {
		list[i] = t
	}
	return SetAttr("tags", list)
}

// Retag lists an agent under its new tags and removes it from old ones. With
// new tags it requires that the agent's last activity is as read, see
// [Profile.Rerank]. moved returns the error if it is not ([Write.Else]).
func Retag(agent string, old, tags []string, active time.Time, moved func(Item) error) []Write {
	var w []Write
	added := false
	for _, t := range old {
		if !slices.Contains(tags, t) {
			w = append(w, Delete(TagKey(agent, t)))
		}
	}
	for _, t := range tags {
		if !slices.Contains(old, t) {
			w = append(w, Put(TagItem(agent, t, active)))
			added = true
		}
	}
	if added {
		w = append(w, Check(CountersKey(agent), AbsentOrEqual("last_active", active.UnixMilli())).Else(moved))
	}
	return w
}

// Rerank moves an agent up in the lists of its tags when it is active in a new hour. The
// profile must be as read. Together with the condition of [Retag], this misses no tag.
func (p *Profile) Rerank(active time.Time) []Write {
	w := []Write{Check(ProfileKey(p.ID), Equal("version", p.Version))}
	for _, t := range p.Tags {
		move := Change(TagKey(p.ID, t), SetAttr("rank_sk", ActivitySK(active, p.ID)))
		w = append(w, move.When(ItemExists()))
	}
	return w
}

// Tagged queries the agents of a tag, the most recently active first. It continues after
// agent, whose sort key ([ActivitySK]) is place; "" begins with the first agent. The answer
// may be some milliseconds old.
func Tagged(tag, place, agent string, most int) Query {
	q := Query{Index: ByRank, PK: TagPK(tag), Desc: true, Limit: most}
	if place != "" {
		q.After = &Position{SK: place, Key: TagKey(agent, tag)}
	}
	return q
}
