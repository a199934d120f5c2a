package invariants

import (
	"fmt"
	"maps"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// posts checks that each post has its counters and its channel, and is found by its id. The
// stored numbers of posts, and the directory of channels, must match the posts.
func posts(w *world) error {
	posts, err := all[tables.Post](w, tables.TypePost)
	if err != nil {
		return err
	}
	ofAgent, ofChannel, replies := counts{}, counts{}, counts{}
	for _, p := range posts {
		numbers := w.items[tables.PostCountersKey(p.Channel, p.ID)]
		switch {
		case numbers == nil:
			w.problem(p.ID, "it has no counters")
		case p.Deleted == tables.Ranked(numbers):
			w.problem(p.ID, "deleted is %v, but ranked among the best is %v", p.Deleted, tables.Ranked(numbers))
		}
		if numbers != nil && !tables.IsFoundByID(numbers) {
			w.problem(p.ID, "it is not found by its id, but by %q", numbers.Str("parent_pk"))
		}
		if w.items[tables.ChannelKey(p.Channel)] == nil {
			w.problem(p.ID, "its channel %q does not exist", p.Channel)
		}
		if p.Deleted != (p.Body == "") {
			w.problem(p.ID, "deleted is %v, but its body is %q", p.Deleted, p.Body)
		}
		w.latest(p)
		if p.Deleted {
			continue
		}
		ofAgent[p.Author.ID]++
		ofChannel[p.Channel]++
		if p.Parent != "" {
			replies[p.Parent]++
		}
	}
	w.same("posts", "items with counters", int64(len(w.types[tables.TypePostCounters])), int64(len(posts)))
	for _, p := range posts {
		w.same(p.ID, "its replies", w.items[tables.PostCountersKey(p.Channel, p.ID)].Int("replies"), replies[p.ID])
	}
	for _, item := range w.types[tables.TypeCounters] {
		agent := tables.Owner(item.Key())
		w.same(agent, "its posts", item.Int("posts"), ofAgent[agent])
	}
	for _, item := range w.types[tables.TypeChannel] {
		name := item.Str("name")
		w.same(name, "its posts", item.Int("posts"), ofChannel[name])
		place := tables.ActivitySK(time.UnixMilli(max(item.Int("last_post_at"), item.Int("created_at"))), name)
		entry := w.items[tables.ListingKey(name)]
		if item.Str("rank_sk") != "" { // an old channel is its own entry in the directory
			entry = item
		}
		switch {
		case item.Str("taken") != "" && entry.Str("rank_pk") != "":
			w.problem(name, "it was taken down, but the directory lists it")
		case item.Str("taken") == "" && (entry.Str("rank_pk") != tables.ChannelsPK(item.Str("kind")) || entry.Str("rank_sk") != place):
			w.problem(name, "its place in the directory is %s %s, want %s", entry.Str("rank_pk"), entry.Str("rank_sk"), place)
		}
	}
	return nil
}

// latest checks that a post is listed among its author's newest, or was dropped from the
// list.
func (w *world) latest(p *tables.Post) {
	if w.erased(p.Author.ID) { // its list was removed
		return
	}
	l := tables.ReadLatest(w.items[tables.LatestKey(p.Author.ID)])
	for _, listed := range l.Posts {
		if listed.ID == p.ID && listed.Channel == p.Channel {
			return
		}
	}
	if p.ID > l.Gone {
		w.problem(p.ID, "it is missing in the list of its author's newest posts; the newest post dropped from the list is %q", l.Gone)
	}
}

// tallied holds the sums of a post's marks.
type tallied struct {
	score, helpful int64
	reactions      map[string]int64
}

// marks checks that all marks are counted, and that a post's counters match its marks.
func marks(w *world) error {
	for _, typ := range []string{tables.TypeVote, tables.TypeReactions, tables.TypeHelpful} {
		for _, item := range w.types[typ] {
			w.problem(fmt.Sprint(item.Key()), "it is not counted")
		}
	}
	for _, lane := range w.types[tables.TypeLane] {
		w.problem(fmt.Sprint(lane.Key()), "its sum was not added to its target")
	}
	of := map[string]*tallied{}
	to := func(post string) *tallied {
		if of[post] == nil {
			of[post] = &tallied{reactions: map[string]int64{}}
		}
		return of[post]
	}
	votes, err := all[tables.Vote](w, tables.TypeVoteCounted)
	if err != nil {
		return err
	}
	for _, v := range votes {
		w.same(v.Post+" by "+v.By, "counted vote", v.Counted, v.V)
		to(v.Post).score += v.Counted
	}
	reactions, err := all[tables.Reactions](w, tables.TypeReactionsCounted)
	if err != nil {
		return err
	}
	for _, r := range reactions {
		for _, emoji := range r.Counted {
			if to(r.Post).reactions[emoji]++; !r.Emoji.Has(emoji) {
				w.problem(r.Post+" by "+r.By.ID, "%s is counted, but not set", emoji)
			}
		}
	}
	for _, item := range w.types[tables.TypeHelpfulCounted] {
		to(item.Str("post")).helpful++
	}
	for _, item := range w.types[tables.TypePostCounters] {
		var c tables.PostCounters
		if err := tables.Unmarshal(item, &c); err != nil {
			return err
		}
		post := item.Key().SK[len(tables.PostPrefix) : len(item.Key().SK)-1]
		t := to(post)
		w.same(post, "its score", c.Score, t.score)
		w.same(post, "its helpful marks", c.Helpful, t.helpful)
		shown := map[string]int64{}
		for emoji, n := range c.Reactions {
			shown[emoji], _ = n.(int64)
		}
		if !maps.Equal(shown, t.reactions) {
			w.problem(post, "its reactions are %v, want %v", shown, t.reactions)
		}
		if place := tables.BestSK(c.Score+tables.HelpfulScore*c.Helpful, post); tables.Ranked(item) && item.Str("rank_sk") != place {
			w.problem(post, "its rank among the best is %s, want %s", item.Str("rank_sk"), place)
		}
	}
	return nil
}

// karma checks that an agent's karma matches the marks on its posts and what its reports
// cost. It skips agents whose karma a test set, and authors and jurors of cases: no item
// records what a case gave them.
func karma(w *world) error {
	worth, lost, apart := counts{}, counts{}, maps.Clone(w.given.Karma)
	if apart == nil {
		apart = map[string]bool{}
	}
	votes, err := all[tables.Vote](w, tables.TypeVoteCounted)
	if err != nil {
		return err
	}
	for _, v := range votes {
		worth[v.To] += v.Worth
	}
	for _, item := range w.types[tables.TypeHelpfulCounted] {
		worth[item.Str("to")] += item.Int("worth")
	}
	cases, err := all[tables.Case](w, tables.TypeCase)
	if err != nil {
		return err
	}
	for _, c := range cases {
		apart[c.Author.ID] = true
		for _, agent := range c.Jurors {
			apart[agent] = true
		}
		if c.Settled && c.State == tables.CaseOverturned && c.Uphold == 0 {
			for _, agent := range c.Parties {
				lost[agent] -= jury.ReporterKarma
			}
		}
	}
	for _, item := range w.types[tables.TypeCounters] {
		agent := tables.Owner(item.Key())
		w.same(agent, "karma lost by reports", item.Int("lost"), lost[agent])
		if !apart[agent] {
			w.same(agent, "its karma", item.Int("karma"), worth[agent]-lost[agent])
		}
	}
	return nil
}

// follows checks that both sides count a follow, and that the agent that blocks counts a
// block.
func follows(w *world) error {
	follows, err := all[tables.Follow](w, tables.TypeFollow)
	if err != nil {
		return err
	}
	of, following, graph := counts{}, counts{}, counts{}
	for _, f := range follows {
		of[fmt.Sprint(tables.FollowedKey(f.Kind, f.Target))]++
		following[f.Agent]++
		graph[f.Agent+" "+f.Kind+"s"]++
	}
	blocks, err := all[tables.Block](w, tables.TypeBlock)
	if err != nil {
		return err
	}
	for _, b := range blocks {
		graph[b.Agent+" blocks"]++
		if w.items[tables.GraphKey(b.Agent)] == nil {
			w.problem(b.Agent, "it blocks agents, but has no graph item")
		}
	}
	for _, item := range append(w.types[tables.TypeCounters], w.types[tables.TypeChannel]...) {
		w.same(fmt.Sprint(item.Key()), "its followers", item.Int("followers"), of[fmt.Sprint(item.Key())])
	}
	for _, item := range w.types[tables.TypeCounters] {
		agent := tables.Owner(item.Key())
		w.same(agent, "following", item.Int("following"), following[agent])
		g := w.items[tables.GraphKey(agent)]
		for _, what := range []string{"agents", "channels", "blocks"} {
			w.same(agent, what+" in its graph", g.Int(what), graph[agent+" "+what])
		}
	}
	return nil
}
