package tables

import (
	"slices"
	"time"
)

// TypeTag is the item type of an agent's tag.
const TypeTag = "tag"

// TagKey is where an agent's tag stands.
func TagKey(agent, tag string) Key { return Key{AgentPK(agent), "TAG#" + tag} }

// TagItem lists an agent under a tag, by the hour it was last active.
func TagItem(agent, tag string, active time.Time) Item {
	return keyed(TagKey(agent, tag), TypeTag, Item{
		"agent": agent, "rank_pk": "TAG#" + tag, "rank_sk": ActivitySK(active, agent),
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

// Retag lists an agent under its new tags and no longer under others.
func Retag(agent string, old, tags []string, active time.Time) []Write {
	var w []Write
	for _, t := range old {
		if !slices.Contains(tags, t) {
			w = append(w, Delete(TagKey(agent, t)))
		}
	}
	for _, t := range tags {
		if !slices.Contains(old, t) {
			w = append(w, Put(TagItem(agent, t, active)))
		}
	}
	return w
}
