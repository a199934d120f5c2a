package tally

import (
	"context"
	"errors"
	"slices"

	"agentsocial/tables"
)

// tally is the sum of marks for one author's posts.
type tally struct {
	to       string // the author
	origin   string // person of the author's origin; "" if none
	owner    string // owner of the author's origin; "" if none
	verified int64  // when the author's origin was verified, unix ms; 0 if none
	exists   bool   // whether the author has counters
	vouchers tables.Set

	votes     []*tables.Vote
	reactions []*reactions
	helpful   []*tables.Helpful
	posts     map[string]*postTally
	givers    map[string]*giver

	karma   int64    // to be added to the author's karma
	vouched []string // owners to be added to the author's vouchers
	writes  []tables.Write
}

// postTally holds a post's counters while marks are added.
type postTally struct {
	id, channel string
	item        tables.Item // as read
	found       bool
	counters    tables.PostCounters
	added       int64 // added to the score
}

// giver is a voter with its karma slots for the author.
type giver struct {
	origin tables.Origin
	slots  tables.KarmaSlots
	took   bool // a vote has taken one of the slots
}

// reactions holds an agent's reactions to a post. shown lists those that the post shows.
type reactions struct {
	tables.Reactions
	shown []string
}

// readMarks reads the current state of marks, and what is needed to count them, except
// vouch slots.
func (f reader) readMarks(ctx context.Context, to string, marks []tables.Item) (*tally, error) {
	keys := []tables.Key{tables.CountersKey(to), tables.OriginKey(to)}
	for _, m := range marks {
		keys = append(keys, m.Key(), tables.PostCountersKey(m.Str("channel"), m.Str("post")))
		if voter := m.Str("by"); voter != "" {
			keys = append(keys, tables.OriginKey(voter), tables.KarmaSlotsKey(voter, to))
		}
	}
	keys = distinct(keys)
	got, err := f.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	items := make(map[tables.Key]tables.Item, len(keys))
	for i, k := range keys {
		items[k] = got[i]
	}
	var own tables.Origin
	if err := tables.Unmarshal(items[tables.OriginKey(to)], &own); err != nil {
		return nil, err
	}
	t := &tally{
		to: to, origin: own.Person, owner: own.Owner(), verified: own.VerifiedAt, exists: items[tables.CountersKey(to)] != nil,
		posts: map[string]*postTally{}, givers: map[string]*giver{},
	}
	t.vouchers, _ = items[tables.CountersKey(to)]["vouchers"].(tables.Set)
	for _, m := range marks {
		if err := t.add(items, items[m.Key()]); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func distinct(keys []tables.Key) []tables.Key {
	slices.SortFunc(keys, compareKeys)
	return slices.Compact(keys)
}

// add adds a mark to the tally if it waits to be counted.
func (t *tally) add(items map[tables.Key]tables.Item, mark tables.Item) error {
	switch mark.Str(tables.AttrType) {
	case tables.TypeVote:
		v := new(tables.Vote)
		if err := tables.Unmarshal(mark, v); err != nil {
			return err
		}
		t.votes = append(t.votes, v)
		if t.givers[v.By] == nil {
			g := new(giver)
			if err := errors.Join(tables.Unmarshal(items[tables.OriginKey(v.By)], &g.origin), tables.Unmarshal(items[tables.KarmaSlotsKey(v.By, t.to)], &g.slots)); err != nil {
				return err
			}
			t.givers[v.By] = g
		}
	case tables.TypeReactions:
		r := new(reactions)
		if err := tables.Unmarshal(mark, &r.Reactions); err != nil {
			return err
		}
		t.reactions = append(t.reactions, r)
	case tables.TypeHelpful:
		h := new(tables.Helpful)
		if err := tables.Unmarshal(mark, h); err != nil {
			return err
		}
		t.helpful = append(t.helpful, h)
	default:
		return nil
	}
	id, channel := mark.Str("post"), mark.Str("channel")
	if t.posts[id] != nil {
		return nil
	}
	p := &postTally{id: id, channel: channel, item: items[tables.PostCountersKey(channel, id)]}
	p.found = p.item != nil
	t.posts[id] = p
	return tables.Unmarshal(p.item, &p.counters)
}

// weigh adds a vote to its post's score and to the author's karma.
func (t *tally) weigh(v *tables.Vote) {
	p := t.posts[v.Post]
	p.counters.Score += v.V - v.Counted
	p.added += v.V - v.Counted
	worth := v.Worth // karma stays as it was when the post was deleted
	if t.moves(p) {
		worth = t.worth(v)
	}
	t.karma += worth - v.Worth
	v.Worth = worth
}

func (t *tally) moves(p *postTally) bool { return t.exists && tables.Ranked(p.item) }

// worth returns the karma that a vote gives (heading "Votes" of the specification).
func (t *tally) worth(v *tables.Vote) int64 {
	g := t.givers[v.By]
	switch {
	case v.V == 0, !v.Weighs, g.origin.Person != "" && g.origin.Person == t.origin:
		return 0
	case g.slots.Holds(v.Post, v.At):
		return v.V
	case g.slots.Take(v.Post, v.At):
		g.took = true
		return v.V
	}
	return 0
}

func (t *tally) thank(h *tables.Helpful) {
	p := t.posts[h.Post]
	p.counters.Helpful++
	var worth int64
	if t.moves(p) {
		worth = tables.HelpfulKarma
	}
	t.karma += worth
	t.writes = append(t.writes, h.Count(worth))
}

// takeBack removes the reactions that an agent took back.
func (t *tally) takeBack(r *reactions) {
	c := &t.posts[r.Post].counters
	for _, emoji := range r.Counted {
		if r.Emoji.Has(emoji) {
			r.shown = append(r.shown, emoji)
			continue
		}
		if n := tables.Item(c.Reactions).Int(emoji); n > 1 {
			c.Reactions[emoji] = n - 1
		} else {
			delete(c.Reactions, emoji)
		}
	}
}

// show adds an agent's new reactions to a post, up to [tables.EmojiMost] different emoji.
func (t *tally) show(r *reactions) {
	c := &t.posts[r.Post].counters
	for _, emoji := range r.Emoji {
		if r.Counted.Has(emoji) {
			continue
		}
		n := tables.Item(c.Reactions).Int(emoji)
		if n == 0 && len(c.Reactions) >= tables.EmojiMost {
			continue
		}
		if c.Reactions == nil {
			c.Reactions = tables.Map{}
		}
		c.Reactions[emoji] = n + 1
		r.shown = append(r.shown, emoji)
	}
	t.writes = append(t.writes, r.Count(tables.NewSet(r.shown...)))
}
