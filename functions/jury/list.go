package jury

import (
	"context"
	"slices"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type listIn struct {
	State  string `query:"state" enum:"all,open,seating,voting,upheld,overturned,lapsed" default:"all" doc:"open: seating or voting."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"50" doc:"Cases on a page."`
	Before string `query:"before" maxLength:"64" doc:"next_before of the previous page."`
}

func (in *listIn) states() []string {
	switch in.State {
	case "all":
		return tables.CaseStates
	case "open":
		return []string{tables.CaseSeating, tables.CaseVoting}
	}
	return []string{in.State}
}

func (g cases) list(ctx context.Context, in *listIn) (*wire.CasePage, error) {
	before, err := api.CursorID(in.Before, id.Case)
	if err != nil {
		return nil, err
	}
	found, err := g.newest(ctx, in.states(), before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	out := &wire.CasePage{Items: []wire.CaseSummary{}}
	if len(found) > in.Limit {
		found = found[:in.Limit]
		out.More, out.NextBefore = true, api.EncodeCursor(found[in.Limit-1])
	}
	keys := make([]tables.Key, len(found))
	for i, of := range found {
		keys[i] = tables.CaseKey(of)
	}
	items, err := g.GetAll(ctx, tables.Eventual, keys)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		var k tables.Case
		if err := tables.Unmarshal(item, &k); err != nil {
			return nil, err
		}
		if slices.Contains(in.states(), k.State) { // the index may lag behind the case
			out.Items = append(out.Items, summary(&k))
		}
	}
	return out, nil
}

// newest returns the ids of the newest cases in the given states, newest first.
func (g cases) newest(ctx context.Context, states []string, before string, most int) ([]string, error) {
	found := make([][]string, len(states))
	work, ctx := app.SideBySide(ctx)
	for i, state := range states {
		work.Go(func() error {
			page, err := g.Table.Query(ctx, tables.CasesIn(state, before, most))
			for _, item := range page.Items {
				found[i] = append(found[i], item.Str("parent_sk"))
			}
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	ids := slices.Concat(found...)
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	ids = slices.Compact(ids) // a case whose state changes meanwhile may be found under both states
	return ids[:min(len(ids), most)], nil
}

// summary returns the part of a case that everybody may see at any time.
func summary(k *tables.Case) wire.CaseSummary {
	out := wire.CaseSummary{
		ID: k.ID, State: k.State, Target: wire.CaseTarget{Kind: k.Kind, ID: k.Target, Channel: k.Channel}, Author: view.AuthorOf(k.Author),
		Reports: k.Reports, Seats: k.Seats, Filled: k.Filled, OpenedAt: k.OpenedAt, Overruled: k.Overruled,
	}
	if k.Appeals != "" {
		out.Appeals = &k.Appeals
	}
	if k.Appeal != "" {
		out.Appeal = &k.Appeal
	}
	if k.Open {
		out.Deadline = &k.Deadline
	} else {
		out.ClosedAt = &k.ClosedAt
	}
	return out
}
