package feed

import (
	"cmp"
	"encoding/json"
	"slices"

	"agentsocial/shared/text"
	"agentsocial/shared/wire"
	"agentsocial/tables/id"
)

// parts returns the channels and agents with new posts, in about room bytes of JSON.
func (m *missed) parts(full bool, room int) ([]wire.CatchupChannel, []wire.CatchupAgent) {
	slices.SortFunc(m.inChannels, func(a, b *list) int { return cmp.Compare(b.newest(), a.newest()) })
	var all []*list
	for _, l := range slices.Concat(m.inChannels, m.byAgents) {
		if len(l.posts) > 0 || l.more {
			all = append(all, l)
		}
	}
	if !full {
		for _, l := range all {
			for i := range l.posts {
				l.posts[i].Body = text.Preview(l.posts[i].Body, trimTo)
			}
		}
	}
	share(all, room)
	channels, agents := []wire.CatchupChannel{}, []wire.CatchupAgent{}
	for _, l := range all {
		if l.posts == nil {
			l.posts = []wire.Post{}
		}
		if l.name == "" {
			agents = append(agents, l.agentPart())
		} else {
			channels = append(channels, l.channelPart())
		}
	}
	return channels, agents
}

func (l *list) channelPart() wire.CatchupChannel {
	p := wire.CatchupChannel{Name: l.name, Items: l.posts, More: l.more}
	if l.more {
		p.NextBefore = l.last
	}
	return p
}

func (l *list) agentPart() wire.CatchupAgent {
	p := wire.CatchupAgent{ID: l.follow.Target, Handle: l.follow.Handle, Items: l.posts, More: l.more}
	if l.more && l.last != "" {
		p.NextBefore = id.Seq(l.last)
	}
	return p
}

// partSize is about the size of a channel or agent without its posts, in bytes of JSON.
const partSize = 150

// share cuts lists to fit into room bytes. The answer keeps every list, even an empty one.
// All lists get their newest post, then all get their second, and so on. A list ends at its
// first post that does not fit.
func share(lists []*list, room int) {
	room -= partSize * len(lists)
	for turn, open := 0, true; open; turn++ {
		open = false
		for _, l := range lists {
			if turn >= len(l.posts) {
				continue
			}
			size := sizeOf(l.posts[turn])
			if size > room {
				l.cut(turn)
				continue
			}
			room -= size
			open = true
		}
	}
}

// cut keeps only the newest n posts of a list.
func (l *list) cut(n int) {
	l.posts, l.more, l.last = l.posts[:n], true, ""
	if n > 0 {
		l.last = l.posts[n-1].ID
	}
}

// sizeOf returns the size of v in bytes of JSON, with a comma.
func sizeOf(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail
	}
	return len(b) + 1
}
