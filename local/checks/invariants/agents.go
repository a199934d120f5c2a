package invariants

import (
	"fmt"
	"slices"
	"strings"

	"agentsocial/tables"
)

// agents checks that an active agent has a handle, counters and a registration, and that its
// profile agrees with its other items. Each claim of a handle or key belongs to an agent.
func agents(w *world) error {
	profiles, err := all[tables.Profile](w, tables.TypeProfile)
	if err != nil {
		return err
	}
	registered := map[string]bool{}
	for _, item := range w.types[tables.TypeHistory] {
		if item.Str("kind") == tables.HistoryRegistered {
			registered[tables.HistoryOwner(item)] = true
		}
	}
	for _, p := range profiles {
		if w.erasing(p.ID) {
			continue
		}
		active := p.State == tables.StateActive
		claim := w.items[tables.HandleKey(p.Handle)]
		switch {
		case active != (p.Handle != ""):
			w.problem(p.ID, "its state is %s, but its handle is %q", p.State, p.Handle)
		case active && claim.Str("agent") != p.ID:
			w.problem(p.ID, "its handle %q belongs to %q", p.Handle, claim.Str("agent"))
		case active && claim.Str("mentions") != p.Mentions:
			w.problem(p.ID, "its profile takes mentions from %q, but the claim of its handle says %q", p.Mentions, claim.Str("mentions"))
		case active && w.items[tables.CountersKey(p.ID)] == nil:
			w.problem(p.ID, "it has no counters")
		case active != registered[p.ID]:
			w.problem(p.ID, "its state is %s, but its history has its registration: %v", p.State, registered[p.ID])
		}
		origin, there, err := one[tables.Origin](w, tables.OriginKey(p.ID))
		if err != nil {
			return err
		}
		if there != (p.Origin != "") || p.Owner != origin.Owner() {
			w.problem(p.ID, "its profile names the owner %q and the origin %q, but its origin item names the owner %q", p.Owner, p.Origin, origin.Owner())
		}
		if p.Throwaway != origin.Throwaway {
			w.problem(p.ID, "throwaway is %v in its profile, but %v in its origin", p.Throwaway, origin.Throwaway)
		}
		if m := w.items[tables.MessagingKey(p.ID)].Str("dms"); m != "" && m != p.DMs {
			w.problem(p.ID, "its profile accepts messages from %q, but its messaging item says %q", p.DMs, m)
		}
		w.tags(p)
	}
	for _, item := range w.types[tables.TypeClaim] {
		agent := item.Str("agent")
		p := w.items[tables.ProfileKey(agent)]
		handle, isHandle := strings.CutPrefix(item.Key().PK, tables.HandleKey("").PK)
		if agent == "" && isHandle { // its agent was erased
			continue
		}
		if p == nil || isHandle && p.Str("handle") != handle {
			w.problem(item.Key().PK, "it belongs to %q, whose handle is %q", agent, p.Str("handle"))
		}
	}
	return nil
}

// tags checks that an agent is listed under its tags, by the hour of its last
// activity.
func (w *world) tags(p *tables.Profile) {
	var listed []string
	for _, item := range w.types[tables.TypeTag] {
		if tables.Owner(item.Key()) == p.ID {
			listed = append(listed, strings.TrimPrefix(item.Key().SK, tables.TagKey("", "").SK))
			hour, _, _ := strings.Cut(item.Str("rank_sk"), "#")
			active := w.items[tables.CountersKey(p.ID)].Int("last_active")
			if want := hourOf(active); hour != want {
				w.problem(p.ID, "a tag lists it in hour %s, but its last activity was in %s", hour, want)
			}
		}
	}
	tags := slices.Sorted(slices.Values(p.Tags))
	if slices.Sort(listed); !slices.Equal(listed, tags) {
		w.problem(p.ID, "its tags are %v, but it is listed under %v", tags, listed)
	}
}

// credentials checks that the count of keys, and the lists of tokens, grants and link
// codes, match the items, and that each key is claimed for its agent.
func credentials(w *world) error {
	profiles, err := all[tables.Profile](w, tables.TypeProfile)
	if err != nil {
		return err
	}
	byAgent := map[string]*tables.Profile{}
	for _, p := range profiles {
		byAgent[p.ID] = p
	}
	keys := counts{}
	live := map[string][]string{} // type and agent → ids
	note := func(item tables.Item, typ, agent, id string) {
		p := byAgent[agent]
		switch {
		case p == nil:
			if !w.expired(item) {
				w.problem(fmt.Sprint(item.Key()), "there is no such agent")
			}
		case item.Int("epoch") == p.Epoch && (item.Int("expires_at") == 0 || item.Int("expires_at") > w.now.UnixMilli()):
			live[typ+" "+agent] = append(live[typ+" "+agent], id)
		}
	}
	for _, item := range w.types[tables.TypeKey] {
		agent := tables.Owner(item.Key())
		if p := byAgent[agent]; p == nil {
			w.problem(fmt.Sprint(item.Key()), "there is no such agent")
		} else if item.Int("epoch") == p.Epoch {
			keys[agent]++
		}
		if of := w.items[tables.KeyClaimKey(item.Str("pub"))].Str("agent"); of != agent {
			w.problem(fmt.Sprint(item.Key()), "the public key belongs to %q", of)
		}
	}
	for _, item := range w.types[tables.TypeToken] {
		note(item, tables.TypeTokens, tables.Owner(item.Key()), item.Str("id"))
	}
	for _, item := range w.types[tables.TypeGrant] {
		note(item, tables.TypeGrants, tables.Owner(item.Key()), item.Str("id"))
	}
	for _, item := range w.types[tables.TypeLinkCode] {
		if item.Int("uses") > 0 {
			note(item, tables.TypeLinkCodes, item.Str("agent"), item.Str("id"))
		}
	}
	for _, p := range profiles {
		w.same(p.ID, "its keys", p.Keys, keys[p.ID])
		now := w.now.UnixMilli()
		for typ, list := range map[string]tables.Live{
			tables.TypeTokens:    tables.LiveTokens(p.ID, w.items[tables.TokensKey(p.ID)], p.Epoch, now),
			tables.TypeGrants:    tables.LiveGrants(p.ID, w.items[tables.GrantsKey(p.ID)], p.Epoch, now),
			tables.TypeLinkCodes: tables.LiveLinkCodes(p.ID, w.items[tables.LinkCodesKey(p.ID)], p.Epoch, now),
		} {
			there := live[typ+" "+p.ID]
			if slices.Sort(there); !slices.Equal(there, list.IDs()) {
				w.problem(p.ID, "its %s: got %v in the list, want %v", typ, list.IDs(), there)
			}
		}
	}
	return nil
}

// memories checks that the texts that a memory item names are in their slots.
func memories(w *world) error {
	for _, item := range w.types[tables.TypeMemory] {
		var m tables.Memory
		if err := tables.Unmarshal(item, &m); err != nil {
			return err
		}
		agent := tables.Owner(item.Key())
		for _, v := range []tables.MemoryText{m.Current, m.Previous} {
			if got := w.items[tables.MemorySlotKey(agent, v.Slot)].Str("sha256"); v.There() && got != v.SHA256 {
				w.problem(agent, "slot %s holds %q, want %q", v.Slot, got, v.SHA256)
			}
		}
	}
	return nil
}
