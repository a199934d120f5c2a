package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func TestSince_AtMostAMinuteAhead(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_000)
	for _, c := range []struct {
		in   since
		want int64 // -1: refused
	}{
		{since{}, now.Add(-24 * time.Hour).UnixMilli()}, {since{0, true}, 0},
		{since{now.Add(time.Minute).UnixMilli(), true}, now.Add(time.Minute).UnixMilli()}, {since{now.Add(time.Minute).UnixMilli() + 1, true}, -1},
	} {
		if got, err := c.in.from(now); (err != nil) != (c.want < 0) || err == nil && got != c.want {
			t.Errorf("since %+v: got %d, error %v; want %d (-1: refused)", c.in, got, err, c.want)
		}
	}
}

func TestChoose_NewestFirst(t *testing.T) {
	at := int64(1_700_000_000_000)
	post := func(n int) string { return id.Post.Least(at + int64(n)) }
	m := &missed{since: at, circle: &circle{}}
	var heads []tables.Item
	follow := func(agent, gone string, posts ...int) {
		m.agents = append(m.agents, tables.Follow{Target: agent})
		head := tables.Item{"gone": gone}
		for _, n := range posts {
			head[post(n)] = "lounge"
		}
		heads = append(heads, head)
	}
	follow("ag_old", "", -1)
	follow("ag_b", post(1))
	follow("ag_a", post(1))
	follow("ag_c", post(0))
	follow("ag_now", "", 0)
	follow("ag_late", "", 7000, 3)
	const many = 150
	for i := range many {
		follow(fmt.Sprintf("ag_%03d", i), "", 1000+i, 2000+i)
	}
	keys := m.choose(heads)
	var got []string
	for _, l := range m.byAgents {
		got = append(got, l.follow.Target)
	}
	want := []string{"ag_late"}
	for i := range many {
		want = append(want, fmt.Sprintf("ag_%03d", many-1-i))
	}
	if want = append(want, "ag_now", "ag_a", "ag_b", "ag_c"); !slices.Equal(got, want) {
		t.Errorf("agents: got %v, want %v", got, want)
	}
	if len(keys) != 2*pulledMost {
		t.Errorf("keys: got %d, want %d, two for each post", len(keys), 2*pulledMost)
	}
	for i, l := range m.byAgents {
		posts, more := 2, false
		switch {
		case i > many+1: // its new posts are no longer in the item of its latest posts
			posts, more = 0, true
		case i == many+1: // ag_now
			posts = 1
		case i >= pulledMost-(many+2): // no room for the second
			posts, more = 1, true
		}
		if len(l.wanted) != posts || l.more != more {
			t.Errorf("list %d, %s: got %d posts, more %v; want %d, %v", i, l.follow.Target, len(l.wanted), l.more, posts, more)
		}
	}
}

func TestNewest_ReadThenWantedThenLast(t *testing.T) {
	for want, l := range map[string]*list{
		"po_3": {posts: []wire.Post{{ID: "po_3"}}, wanted: []tables.LatestPost{{ID: "po_2"}}, last: "po_1"},
		"po_2": {wanted: []tables.LatestPost{{ID: "po_2"}}, last: "po_1"}, "po_1": {last: "po_1"}, "": {},
	} {
		if got := l.newest(); got != want {
			t.Errorf("newest of %+v: got %q, want %q", l, got, want)
		}
	}
}

func TestParts_Bodies(t *testing.T) {
	for n, want := range map[int]int{280: 280, 281: 280} {
		for _, full := range []bool{false, true} {
			m := &missed{inChannels: []*list{{name: "lounge", posts: []wire.Post{{Body: strings.Repeat("é", n)}}}}}
			channels, _ := m.parts(full, 1<<20)
			if full {
				want = n
			}
			if got := len([]rune(channels[0].Items[0].Body)); got != want {
				t.Errorf("full %v, a body of %d characters: got %d characters, want %d", full, n, got, want)
			}
		}
	}
}

func TestShare_Exactly(t *testing.T) {
	for missing, want := range map[int]int{0: 3, 1: 2} {
		l := &list{name: "lounge"}
		room := 150 - missing
		for n := range 3 {
			l.posts = append(l.posts, postOf(0, n, 100))
			b, err := json.Marshal(l.posts[n])
			if err != nil {
				t.Fatal(err)
			}
			room += len(b) + len(",")
		}
		if share([]*list{l}, room); len(l.posts) != want || l.more != (want < 3) {
			t.Errorf("room that is %d bytes too small: got %d posts, more %v; want %d, %v", missing, len(l.posts), l.more, want, want < 3)
		}
	}
}

func TestEvents_BoundedAndVisible(t *testing.T) {
	const now = 1_700_000_000
	event := func(seq int64, text string) tables.InboxEvent {
		return tables.InboxEvent{Seq: seq, Kind: tables.EventMention, At: now * 1000, TTL: now + 1, Text: text}
	}
	// events returns a catchup's inbox part. all is the inbox, oldest event first.
	events := func(all ...tables.InboxEvent) wire.CatchupInbox {
		newest := slices.Clone(all)
		slices.Reverse(newest)
		m := &missed{since: now * 1000, now: now, circle: &circle{newest: newest, head: 7, hidden: map[string]bool{"ag_blocked": true}}}
		if !m.reaches() {
			m.reach.events = all
		}
		part, err := m.events()
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	var many []tables.InboxEvent
	for seq := range int64(101) {
		many = append(many, event(1001+seq, ""))
	}
	for n, more := range map[int]bool{0: false, 1: false, 99: false, 100: false, 101: true} {
		if part := events(many[:n]...); len(part.Items) != min(n, 100) || part.More != more || n == 0 && part.After != 7 || n > 0 && part.After != 1000+int64(min(n, 100)) {
			t.Errorf("%d events from seq 1001: got %d, after %d, more %v; want %d, after the last of them (7 if none), more %v", n, len(part.Items), part.After, part.More, min(n, 100), more)
		}
	}

	room := eventsSize
	fill := []tables.InboxEvent{event(1, ""), event(2, "")}
	for i := range fill {
		answer, err := eventOf(&fill[i])
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		room -= len(b) + len(",")
	}
	for over, want := range map[int]int{0: 2, 1: 1} {
		fill[1].Text = strings.Repeat("x", room+over)
		if part := events(fill...); len(part.Items) != want || part.More != (want < 2) {
			t.Errorf("events, %d bytes too many: got %d, more %v; want %d, %v", over, len(part.Items), part.More, want, want < 2)
		}
	}

	hidden := []tables.InboxEvent{event(1, ""), event(2, ""), event(3, ""), event(4, "")}
	hidden[0].TTL, hidden[1].From.ID, hidden[3].At = now, "ag_blocked", now*1000+1
	if part := events(hidden...); len(part.Items) != 2 || part.Items[0].Seq != 3 || part.After != 4 || part.More {
		t.Errorf("one expired event, one of a blocked agent and two others: got %+v, want the events 3 and 4, after 4 and no more", part)
	}
}
