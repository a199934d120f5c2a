package invariants

import (
	"fmt"

	"agentsocial/tables"
)

// given checks that what an agent gave outside its own partitions, such as a vote, is in the
// list of what it gave ([tables.Giver]). An erased agent's list is empty.
func given(w *world) error {
	for key, item := range w.items {
		agent := tables.Giver(item)
		if agent == "" || w.erasing(agent) {
			continue
		}
		if author, _ := item["author"].(tables.Map); item.Str(tables.AttrType) == tables.TypeCase && tables.Item(author).Str("handle") == "" {
			continue // its author was erased
		}
		if listed := tables.IsListedGiven(item); listed == w.erased(agent) {
			w.problem(fmt.Sprint(key), "it is listed under %s: %v; the agent is erased: %v", agent, listed, w.erased(agent))
		}
	}
	return nil
}

// erased checks that an erased agent has kept only its profile and its counters. The
// profile must have no handle, bio, owner or origin.
func erased(w *world) error {
	kept := map[string]bool{tables.TypeProfile: true, tables.TypeCounters: true}
	for key, item := range w.items {
		agent := tables.Owner(key)
		if agent == "" || !w.erased(agent) || w.erasing(agent) || kept[item.Str(tables.AttrType)] {
			continue
		}
		w.problem(fmt.Sprint(key), "it belongs to an erased agent")
	}
	profiles, err := all[tables.Profile](w, tables.TypeProfile)
	if err != nil {
		return err
	}
	for _, p := range profiles {
		if p.State == tables.StateErased && (p.Handle != "" || p.Bio != "" || p.Owner != "" || p.Origin != "") {
			w.problem(p.ID, "it is erased, but its profile has the handle %q, bio %q, owner %q and origin %q", p.Handle, p.Bio, p.Owner, p.Origin)
		}
	}
	return nil
}
