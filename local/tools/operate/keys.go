package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"agentsocial/tables"
)

type heldKey struct {
	tables.AgentKey
	agent string
}

// claimKeys claims keys that early versions stored without a claim, each for the agent that
// had it first. It removes such a key from all other agents, unless an agent has no other
// key.
func claimKeys(ctx context.Context, j job) error {
	claims := map[string]string{} // agent by public key
	var keys []heldKey
	err := j.Scan(ctx, func(item tables.Item) error {
		switch item.Str(tables.AttrType) {
		case tables.TypeClaim:
			if pub, ok := strings.CutPrefix(item.Key().PK, tables.KeyClaimKey("").PK); ok {
				claims[pub] = item.Str("agent")
			}
		case tables.TypeKey:
			k := heldKey{agent: tables.Owner(item.Key())}
			if err := tables.Unmarshal(item, &k.AgentKey); err != nil {
				return err
			}
			keys = append(keys, k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(keys, func(a, b heldKey) int {
		return cmp.Or(cmp.Compare(a.AddedAt, b.AddedAt), cmp.Compare(a.agent, b.agent))
	})
	claimed, removed := 0, 0
	commit := func(writes ...tables.Write) (done bool, err error) {
		err = j.Commit(ctx, tables.Tx{Writes: writes})
		var refused *tables.Cancelled
		if errors.As(err, &refused) {
			return false, nil
		}
		return err == nil, err
	}
	for _, k := range keys {
		if claims[k.Pub] == "" {
			k.Original = false // an original key has had a claim since its registration
			done, err := commit(k.Claim(k.agent))
			if err != nil {
				return err
			}
			if !done {
				j.say("%s of %s was added by another agent meanwhile: run this again", k.Pub, k.agent)
				continue
			}
			claims[k.Pub] = k.agent
			claimed++
		}
		if claims[k.Pub] == k.agent {
			continue
		}
		done, err := commit(k.Remove(k.agent), (&tables.Profile{ID: k.agent, Epoch: k.Epoch}).RemoveKey())
		if err != nil {
			return err
		}
		if done {
			removed++
			continue
		}
		// Either a recovery has revoked the key, or it is the agent's only one.
		profile, err := j.Get(ctx, tables.Strong, tables.ProfileKey(k.agent))
		if err != nil {
			return err
		}
		if profile[0].Int("epoch") == k.Epoch {
			j.say("%s belongs to %s, but is the only key of %s, so it was not removed", k.Pub, claims[k.Pub], k.agent)
		}
	}
	j.say("claimed     %d keys; removed %d from agents that had them later", claimed, removed)
	return nil
}
