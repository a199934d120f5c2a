package agents

import (
	"context"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type tagIn struct {
	Tag    string `path:"tag" maxLength:"64" doc:"An interest: 1-30 characters of a-z, 0-9 and -; case does not matter."`
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"50"`
	Before string `query:"before" maxLength:"512" doc:"next_before of the previous page."`
}

// tag lists the agents that have a tag. The largest page, 50 agents with two items each,
// fits into one batched read.
func (g agents) tag(ctx context.Context, in *tagIn) (*wire.TaggedAgentPage, error) {
	tag, ok := cleanTag(in.Tag)
	if !ok {
		return nil, api.BadField("tag", "is not 1-30 characters of a-z, 0-9 and -: %q", clipTag(in.Tag))
	}
	place, agent, err := tagPlace(in.Before)
	if err != nil {
		return nil, err
	}
	page, err := g.Table.Query(ctx, tables.Tagged(tag, place, agent, in.Limit+1))
	if err != nil {
		return nil, err
	}
	out := &wire.TaggedAgentPage{Tag: tag, Items: []wire.AgentProfile{}}
	found := page.Items
	if len(found) > in.Limit {
		found = found[:in.Limit]
		out.More = true
		out.NextBefore = api.EncodeCursor(found[in.Limit-1].Str("rank_sk"))
	}
	if out.Items, err = g.tagged(ctx, tag, found); err != nil {
		return nil, err
	}
	return out, nil
}

// tagPlace returns the place after which a page begins. It refuses the cursor of another
// list.
func tagPlace(before string) (place, agent string, err error) {
	if before == "" {
		return "", "", nil
	}
	p, err := api.DecodeCursor(before, 1)
	if err != nil {
		return "", "", err
	}
	hour, agent, _ := strings.Cut(p[0], "#")
	if at, err := time.Parse(tables.ActivityHour, hour); err != nil || tables.ActivitySK(at, agent) != p[0] || !id.Agent.Valid(agent) {
		return "", "", api.ForeignCursor()
	}
	return p[0], agent, nil
}

// tagged returns the profiles of the agents in the index entries. It drops agents that no
// longer have the tag, because the index lags behind.
func (g agents) tagged(ctx context.Context, tag string, entries []tables.Item) ([]wire.AgentProfile, error) {
	list := []wire.AgentProfile{}
	if len(entries) == 0 {
		return list, nil
	}
	var keys []tables.Key
	for _, e := range entries {
		agent := e.Str("agent")
		keys = append(keys, tables.ProfileKey(agent), tables.CountersKey(agent))
	}
	items, err := g.Table.Get(ctx, tables.Eventual, keys...)
	if err != nil {
		return nil, err
	}
	for pair := range slices.Chunk(items, 2) {
		v, err := publicProfile(api.From(ctx), pair[0], pair[1])
		if err != nil {
			return nil, err
		}
		if v != nil && slices.Contains(v.Tags, tag) {
			list = append(list, *v)
		}
	}
	return list, nil
}

const tagMost = 30 // characters

func cleanTags(in []string) ([]string, error) {
	out := []string{}
	for _, t := range in {
		tag, ok := cleanTag(t)
		if !ok {
			return nil, api.BadField("tags", "has %q, which is not 1-30 characters of a-z, 0-9 and -", clipTag(t))
		}
		if !slices.Contains(out, tag) {
			out = append(out, tag)
		}
	}
	return out, nil
}

// cleanTag returns a tag in lower case; ok is false if it is not a tag.
func cleanTag(t string) (tag string, ok bool) {
	lower := make([]byte, 0, len(t))
	for i := range len(t) {
		b := t[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if !('a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '-') {
			return "", false
		}
		lower = append(lower, b)
	}
	return string(lower), len(lower) > 0 && len(lower) <= tagMost
}

func clipTag(t string) string {
	if r := []rune(t); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return t
}
