package feed

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// missed holds what is new to an agent since a time.
type missed struct {
	feed
	*circle
	agent string
	since int64 // unix ms
	now   int64 // unix seconds

	inChannels []*list // one for each followed channel
	byAgents   []*list // one for each agent that may have new posts, newest first
	reach      reach
	refused    map[string]bool // partitions that the table throttled
}

// list holds the new posts of one channel or one agent.
type list struct {
	follow tables.Follow       // of an agent
	name   string              // of a channel
	wanted []tables.LatestPost // of an agent: the posts to read, newest first
	posts  []wire.Post         // newest first
	more   bool                // whether there are more new posts, older than these
	last   string              // id of the oldest post that was considered

	incomplete bool // some new posts could not be read
}

// read reads what is new, usually in two round trips.
func (m *missed) read(ctx context.Context) error {
	latest := make([]tables.Key, len(m.agents))
	for i, f := range m.agents {
		latest[i] = tables.LatestKey(f.Target)
	}
	var heads []tables.Item
	m.inChannels = make([]*list, len(m.channels))
	work, wctx := app.SideBySide(ctx)
	for i, name := range m.channels {
		work.Go(func() (err error) {
			m.inChannels[i], err = m.channel(wctx, name)
			if errors.Is(err, tables.ErrThrottled) {
				m.inChannels[i], err = &list{name: name, incomplete: true}, nil
			}
			return err
		})
	}
	work.Go(func() (err error) {
		heads, err = m.getUnthrottled(wctx, latest)
		return err
	})
	work.Go(func() error { return m.probe(wctx) })
	if err := work.Wait(); err != nil {
		return err
	}
	keys := m.choose(heads)
	var items []tables.Item
	work, ctx = app.SideBySide(ctx)
	work.Go(func() (err error) {
		items, err = m.getUnthrottled(ctx, keys)
		return err
	})
	work.Go(func() error { return m.reachBack(ctx) })
	if err := work.Wait(); err != nil {
		return err
	}
	posts, err := view.Posts(items...)
	if err == nil {
		m.take(posts)
	}
	return err
}

// channelPages bounds the pages of a channel that are read if none has a visible post.
const channelPages = 4

// channel reads the new posts of a channel. The more channels the agent follows, the
// fewer posts of each are read.
func (m *missed) channel(ctx context.Context, name string) (*list, error) {
	l, most := &list{name: name}, min(channelMost, postsMost/len(m.channels))
	q := tables.PostsFrom(name, id.Post.Least(m.since), most+1)
	q.Only = view.PostAttributes
	for range channelPages {
		page, err := m.Table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		if err := m.look(l, page, most); err != nil || len(l.posts) > 0 || !l.more {
			return l, err
		}
		q.After = &tables.Position{SK: tables.PostKey(name, l.last).SK}
	}
	return l, nil
}

// look adds a page's visible posts to l. most bounds the posts that it considers.
func (m *missed) look(l *list, page tables.Page, most int) error {
	posts, err := view.Posts(page.Items...)
	l.more = page.Next != nil || len(posts) > most
	for _, p := range posts[:min(most, len(posts))] {
		l.last = p.ID
		if !p.Deleted && !m.hidden[p.Author.ID] {
			l.posts = append(l.posts, view.PostOf(&p, m.Settings.BaseURL))
		}
	}
	return err
}

// choose makes a list for each agent that may have new posts which the channels' lists
// lack. It returns the keys to read: the newest post of each agent, then the second of
// each, and so on, while there is room.
func (m *missed) choose(heads []tables.Item) []tables.Key {
	shown := map[string]bool{}
	for _, l := range m.inChannels {
		for _, p := range l.posts {
			shown[p.ID] = true
		}
	}
	least := id.Post.Least(m.since)
	for i, head := range heads {
		latest := tables.ReadLatest(head)
		l := &list{follow: m.agents[i], more: latest.Gone >= least, incomplete: m.refused[tables.LatestKey(m.agents[i].Target).PK]}
		for _, p := range latest.Posts {
			if p.ID >= least && !shown[p.ID] {
				l.wanted = append(l.wanted, p)
			}
		}
		if len(l.wanted) > 0 || l.more || l.incomplete {
			m.byAgents = append(m.byAgents, l)
		}
	}
	slices.SortFunc(m.byAgents, func(a, b *list) int {
		return cmp.Or(cmp.Compare(b.newest(), a.newest()), cmp.Compare(a.follow.Target, b.follow.Target))
	})
	var keys []tables.Key
	for turn, room := 0, true; room; turn++ {
		room = false
		for _, l := range m.byAgents {
			switch {
			case turn >= len(l.wanted):
			case len(keys) == 2*pulledMost:
				l.wanted, l.more = l.wanted[:turn], true
			default:
				p := l.wanted[turn]
				keys = append(keys, view.WithCounters(tables.PostKey(p.Channel, p.ID))...)
				room = true
			}
		}
	}
	return keys
}

// newest returns the id of the newest post that the list has or wants; last if none.
func (l *list) newest() string {
	switch {
	case len(l.posts) > 0:
		return l.posts[0].ID
	case len(l.wanted) > 0:
		return l.wanted[0].ID
	}
	return l.last
}

// take moves posts into the lists that want them.
func (m *missed) take(posts []view.Post) {
	read := map[string]*view.Post{}
	for i, p := range posts {
		read[p.ID] = &posts[i]
	}
	for _, l := range m.byAgents {
		for _, at := range l.wanted {
			l.last = at.ID
			l.incomplete = l.incomplete || m.refused[tables.PostKey(at.Channel, at.ID).PK]
			if p := read[at.ID]; p != nil && !p.Deleted {
				l.posts = append(l.posts, view.PostOf(p, m.Settings.BaseURL))
			}
		}
	}
}
