// Package tally adds up what many agents write at once: posts, replies, followers, marks,
// karma, support for ideas, and sums of money by day. It also re-ranks active agents in
// the lists of their tags, and maintains the search indexes.
//
// A request writes only its own item. This reader of the stream adds up the changes of a
// target and writes them in one update. Each change counts exactly once.
package tally

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

type reader struct {
	*app.App
	hot *hot
}

func newReader(a *app.App) reader { return reader{a, &hot{}} }

// New declares the function.
func New(a *app.App) stream.Function {
	return stream.Function{
		Name: "tally", Doc: "Counts posts, replies, marks, followers and support for ideas. Adds up karma and the ledger by day. Updates the activity of agents and channels.",
		Reads: tables.Agents | tables.Channels | tables.Ledgers | tables.TallyMarkers | tables.PostMarks | tables.Quotas | tables.SearchIndexes | tables.IdeaBoard, Writes: tables.Agents | tables.Channels | tables.Ledgers | tables.TallyMarkers | tables.PostMarks | tables.Quotas | tables.SearchIndexes | tables.IdeaBoard,
		Filters: append([]stream.Filter{
			{Type: tables.TypePost, Events: changes},
			{Type: tables.TypeIdea, Events: []string{"INSERT"}},
			{Type: tables.TypeSupport, Events: changes},
			{Type: tables.TypeFollow, Events: []string{"INSERT", "REMOVE"}},
			{Type: tables.TypeMovement, Events: []string{"INSERT"}},
			{Type: tables.TypeLane, Events: changes},
		}, markFilters...),
		Batch: 100, Window: time.Second,
		Handle: newReader(a).handle,
	}
}

const (
	tallyMost  = 40 // changes in one transaction; each may also write its own item
	sideBySide = 16
)

type addition struct {
	record string // identifies the change, not its delivery
	n      int64
	at     int64 // unix ms of activity; 0 if the change is not activity
}

func (f reader) handle(ctx context.Context, records []tables.StreamRecord) error {
	var posts, ideas, support, follows, movements, marks, lanes []tables.StreamRecord
	for _, r := range records {
		switch {
		case r.New.Str(tables.AttrType) == tables.TypeIdea:
			ideas = append(ideas, r)
		case r.New.Str(tables.AttrType) == tables.TypeSupport:
			support = append(support, r)
		case r.New.Str(tables.AttrType) == tables.TypePost:
			posts = append(posts, r)
		case r.New.Str(tables.AttrType) == tables.TypeMovement:
			movements = append(movements, r)
		case r.New.Str(tables.AttrType) == tables.TypeLane:
			lanes = append(lanes, r)
		case r.New.Str(tables.AttrType) == tables.TypeFollow, r.Old.Str(tables.AttrType) == tables.TypeFollow:
			follows = append(follows, r)
		default:
			marks = append(marks, r)
		}
	}
	// The steps run in sequence, because two of them may update the same counters.
	if err := f.countPosts(ctx, posts); err != nil {
		return err
	}
	if err := f.countFollows(ctx, follows); err != nil {
		return err
	}
	if err := f.countMarks(ctx, marks); err != nil {
		return err
	}
	if err := f.countMovements(ctx, movements); err != nil {
		return err
	}
	if err := f.countSupport(ctx, support); err != nil {
		return err
	}
	if err := f.seal(ctx, append(posts, ideas...)); err != nil {
		return err
	}
	return f.moveLanes(ctx, lanes)
}

type additions struct {
	targets map[tables.Key]target
	to      map[tables.Key][]addition
}

func newAdditions() additions {
	return additions{map[tables.Key]target{}, map[tables.Key][]addition{}}
}

func (a additions) add(to target, t addition) {
	a.targets[to.key] = to
	if !slices.ContainsFunc(a.to[to.key], func(o addition) bool { return o.record == t.record }) {
		a.to[to.key] = append(a.to[to.key], t)
	}
}

// countPosts counts posts and deletions. It stores in separate markers that a change is
// counted.
func (f reader) countPosts(ctx context.Context, records []tables.StreamRecord) error {
	all := newAdditions()
	for _, r := range records {
		var p tables.Post
		if err := tables.Unmarshal(r.New, &p); err != nil {
			return err
		}
		t := addition{record: p.ID, n: 1, at: p.CreatedAt}
		switch {
		case r.Event == "INSERT":
		case p.Deleted && !r.Old.Bool("deleted"):
			t = addition{record: p.ID + "-" + times(p.Restored), n: -1}
		case !p.Deleted && r.Old.Bool("deleted"): // put back after an appeal
			t = addition{record: p.ID + "+" + times(p.Restored), n: 1}
		default:
			continue
		}
		all.add(f.agentTarget(p.Author.ID), t)
		all.add(f.channelTarget(p.Channel), t)
		if p.Parent != "" {
			all.add(repliesTarget(p.Channel, p.Parent), t)
		}
	}
	return f.addAll(ctx, all)
}

// times returns the part of a marker's name that says how often the post was put back;
// "" if never.
func times(restored int64) string {
	if restored == 0 {
		return ""
	}
	return strconv.FormatInt(restored, 10)
}

// countFollows counts the followers of each target and the targets of each follower.
func (f reader) countFollows(ctx context.Context, records []tables.StreamRecord) error {
	followers, following := newAdditions(), newAdditions()
	for _, r := range records {
		item, n, ends := r.New, int64(1), ""
		if r.Event == "REMOVE" {
			item, n, ends = r.Old, -1, "-"
		}
		var follow tables.Follow
		if err := tables.Unmarshal(item, &follow); err != nil {
			return err
		}
		t := addition{record: follow.ID + ends, n: n}
		followers.add(followersTarget(follow.Kind, follow.Target), t)
		following.add(followingTarget(follow.Agent), t)
	}
	if err := f.addAll(ctx, followers); err != nil { // not at the same time, because an agent's counters may be in both
		return err
	}
	return f.addAll(ctx, following)
}

func (f reader) addAll(ctx context.Context, all additions) error {
	work := app.Together(ctx)
	work.SetLimit(sideBySide)
	for _, key := range slices.SortedFunc(maps.Keys(all.targets), compareKeys) {
		work.Go(func() error {
			for chunk := range slices.Chunk(all.to[key], tallyMost) {
				if err := f.add(ctx, all.targets[key], chunk); err != nil {
					return fmt.Errorf("tally: %w", err)
				}
			}
			return nil
		})
	}
	return work.Wait()
}

func compareKeys(a, b tables.Key) int {
	return slices.Compare([]string{a.PK, a.SK}, []string{b.PK, b.SK})
}

// add adds the additions to a target, except those that were added before.
func (f reader) add(ctx context.Context, to target, additions []addition) error {
	return f.orAside(ctx, to.key,
		func(ctx context.Context) error { return f.tryAdd(ctx, to, additions, false) },
		func(ctx context.Context) error { return f.tryAdd(ctx, to, additions, true) })
}

// tryAdd adds to the target or, if aside is true, to one of its lanes.
func (f reader) tryAdd(ctx context.Context, to target, additions []addition, aside bool) error {
	name := to.key.PK + "/" + to.key.SK
	keys := []tables.Key{to.key}
	if aside {
		keys[0] = f.anyLane(to)
	}
	for _, t := range additions {
		keys = append(keys, tables.TallyMarkerKey(name, t.record))
	}
	items, err := f.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return err
	}
	var writes []tables.Write
	var n, at int64
	for i, t := range additions {
		if items[i+1] == nil {
			n, at = n+t.n, max(at, t.at)
			writes = append(writes, tables.TallyMarker(name, t.record, f.Now()))
		}
	}
	if len(writes) == 0 {
		return nil
	}
	switch {
	case aside:
		writes = append(writes, to.lane.Add(keys[0], items[0], n, at))
	case items[0] != nil: // a deleted target gets only the markers
		w, err := to.apply(ctx, items[0], n, at)
		if err != nil {
			return err
		}
		writes = append(writes, w...)
	}
	return f.Transact(ctx, writes...)
}
