package simulate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/local/checks/invariants"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func (w *world) solve(token string) any {
	v, err := agents.Solve(context.Background(), w.parts.App, token)
	if err != nil {
		w.violate("puzzles", "%v", err)
	}
	return v
}

func (w *world) begin() {
	r := w.dice.Source("founding")
	w.plainly(&transcripts.Request{Method: "GET", Target: "/v1/channels", Header: map[string][]string{}}, nil) // creates the first channels
	for range 6 {
		p := w.newcomer(r)
		if o := w.register(r, p, ""); o != nil {
			w.carry(r, []*op{o})
		}
		w.pass(time.Minute)
	}
	w.watch()
	if len(w.people) > 0 {
		if err := w.table.Table.Commit(context.Background(), tables.Tx{Writes: []tables.Write{tables.Operate(w.people[0].id, true)}}); err != nil {
			w.violate("table", "%v", err)
		}
	}
}

// rest brings the service to rest, and checks the table and the API.
func (w *world) rest() {
	w.settle()
	w.pass(3 * time.Second) // so that what is due at this moment is done
	w.settle()
	w.forgets()
	if w.found != nil {
		return
	}
	w.tracef("%d: at rest", w.op)
	problems, err := invariants.Check(context.Background(), w.table.Table, time.Now(), invariants.Given{})
	if err != nil {
		w.violate("invariants", "%v", err)
	}
	for _, p := range problems {
		w.violate("invariants", "%s", p)
	}
	for _, check := range []func(){w.checkPosts, w.checkTexts, w.checkGuestbooks, w.checkInboxes, w.checkPeople, w.checkEnded} {
		if w.found == nil {
			check()
		}
	}
	w.settle()
}

func (w *world) checkPosts() {
	n := 0
	for key, item := range w.items {
		if item.Str(tables.AttrType) != tables.TypePost {
			continue
		}
		n++
		x := w.byPost[item.Str("id")]
		if x == nil {
			author, _ := item["author"].(tables.Map)
			p := w.byID[tables.Item(author).Str("id")]
			last := item.Bool("deleted") && (p != nil && p.forgotten || slices.Contains(w.shut, item.Str("channel")))
			if !last && !w.loose[item.Str("body")] {
				w.violate("model", "the post %s was never accepted", key.SK)
			}
			n--
			continue
		}
		if gone := item.Bool("deleted"); gone != x.gone() {
			w.violate("model", "%s: deleted: got %v, want %v", x.id, gone, x.gone())
		}
		if !x.gone() && item.Str("body") != x.body {
			w.violate("model", "%s: got the body %q, want %q", x.id, item.Str("body"), x.body)
		}
	}
	if n != len(w.posts) {
		w.violate("model", "%d posts in the table, want %d", n, len(w.posts))
	}
	for _, x := range w.posts {
		c := w.items[tables.PostCountersKey(x.channel, x.id)]
		if got := c.Int("score"); got != x.score() {
			w.violate("model", "%s: score: got %d, want %d", x.id, got, x.score())
		}
		helped := int64(0)
		if x.helpful {
			helped = 1
		}
		if got := c.Int("helpful"); got != helped {
			w.violate("model", "%s: helpful: got %d, want %d", x.id, got, helped)
		}
		want := map[string]int64{}
		for _, mine := range x.reactions {
			for e := range mine {
				want[e]++
			}
		}
		got, _ := c["reactions"].(tables.Map)
		for e, n := range want {
			if got[e] != n {
				w.violate("model", "%s: %s: got %v, want %d", x.id, e, got[e], n)
			}
		}
	}
	for i := range min(12, len(w.posts)) {
		x := w.posts[len(w.posts)-1-int(w.dice.N("post", uint64(w.op), uint64(i))%uint64(len(w.posts)))]
		a := w.plainly(&transcripts.Request{Method: "GET", Target: "/v1/c/" + x.channel + "/posts/" + x.id, Header: map[string][]string{}}, nil)
		switch {
		case a.Status == 429:
		case x.gone() && a.Status == 200 && a.Text("body") != "", !x.gone() && (a.Status != 200 || a.Text("body") != x.body || a.Text("score") != fmt.Sprint(x.score())):
			w.violate("model", "%s: the API answers %d %s, want gone %v, body %q, score %d", x.id, a.Status, a.Body, x.gone(), x.body, x.score())
		}
	}
}

// checkTexts checks that no item holds a text that is gone. Evidence keeps a text, unless an
// operator took it down or its author was erased.
func (w *world) checkTexts() {
	for _, item := range w.items {
		gone := func(x *posted) bool { return x.gone() && !w.pending(x) }
		if item.Str(tables.AttrType) == tables.TypeEvidence {
			gone = func(x *posted) bool { return x.taken || x.by.forgotten }
		}
		if in := strings.TrimPrefix(item.Key().PK, tables.CasePK("")); item.Str(tables.AttrType) == tables.TypeEvidence && w.withheld[in] && item.Str("body") != "" {
			w.violate("erasure", "the evidence of %s holds %q", in, item.Str("body"))
		}
		eachText(item, func(s string) {
			if m := w.forbidden(s, gone, 0); m != "" {
				w.violate("erasure", "an item of type %s holds %q", item.Str(tables.AttrType), m)
			}
		})
	}
}

func (w *world) checkGuestbooks() {
	signed := map[[2]string]int{}
	for _, item := range w.items {
		if item.Str(tables.AttrType) == tables.TypeVisit {
			visitor, _ := item["visitor"].(tables.Map)
			signed[[2]string{tables.Item(visitor).Str("id"), item.Str("agent")}]++
		}
	}
	for _, p := range w.people {
		for host, want := range p.signed {
			if got := signed[[2]string{p.id, host}]; w.byID[host].endedAt.IsZero() && got != want {
				w.violate("model", "%d signatures of %s in the guestbook of %s, want %d", got, p.name, w.byID[host].name, want)
			}
		}
	}
}

// checkInboxes checks that every expected event arrived, that no waiting event is
// repeated, and that no reply, mention or message lacks a cause. A change of settings,
// blocks or follows excuses a missing event, unless it was more than an hour before the
// event.
func (w *world) checkInboxes() {
	for _, p := range w.people {
		known := map[string]bool{}
		for _, t := range p.told {
			known[t.kind+" "+t.source] = true
			quiet := t.from == nil || p.changed.Before(t.at.Add(-time.Hour)) && t.from.changed.Before(t.at.Add(-time.Hour))
			if !t.sure || !quiet || t.from != nil && !t.from.endedAt.IsZero() || t.from != nil && p.blocks[t.from.id] || t.post != nil && t.post.gone() {
				continue
			}
			arrived := func(kind string) int {
				what := kind + " " + t.source
				return w.at.kinds[p.id][what] + w.at.waits[p.id][what]
			}
			if n := arrived(t.kind); n == 0 && (t.kind != "mention" || arrived("post") == 0) {
				w.violate("inboxes", "%s has no event %s of %s", p.name, t.kind, t.source)
			}
		}
		for what, n := range w.at.waits[p.id] {
			_, source, _ := strings.Cut(what, " ")
			if source != "" && n > 0 && n+w.at.kinds[p.id][what] > 1 {
				w.violate("inboxes", "%s: %d events %q wait and %d have numbers, want at most one in all", p.name, n, what, w.at.kinds[p.id][what])
			}
		}
		for what := range w.at.kinds[p.id] {
			kind, source, _ := strings.Cut(what, " ")
			if x := w.byPost[source]; x == nil && kind != "dm" {
				continue
			}
			if (kind == "reply" || kind == "mention" || kind == "dm") && !known[what] {
				w.violate("inboxes", "%s has the event %s, which nothing caused", p.name, what)
			}
		}
	}
}

func (w *world) checkPeople() {
	some := w.people
	if w.op < w.c.Ops {
		some = nil
		for i := range min(8, len(w.people)) {
			some = append(some, w.people[int(w.dice.N("person", uint64(w.op), uint64(i))%uint64(len(w.people)))])
		}
	}
	returned := map[*person]int64{}
	for _, item := range w.items {
		if t := item.Str(tables.AttrType); t == tables.TypePromo || t == tables.TypePastPromo {
			var x tables.Promo
			if err := tables.Unmarshal(item, &x); err != nil {
				w.violate("model", "%v", err)
				return
			}
			if p := w.byID[x.Buyer.ID]; p != nil {
				returned[p] += x.Returned
			}
		}
	}
	for _, p := range some {
		read := func(target string) *transcripts.Answer {
			w.pass(100 * time.Millisecond)
			a := w.plainly(w.signs(p, "GET", target, ""), p)
			if a.Status != 200 && a.Status != 429 {
				w.violate("model", "%s reads %s: %d %s", p.name, target, a.Status, a.Body)
			}
			return a
		}
		if a := read("/v1/me"); a.Status == 200 {
			if got := a.Text("bio"); p.bio != "" && got != p.bio {
				w.violate("model", "%s: bio: got %q, want %q", p.name, got, p.bio)
			}
			if got := a.Text("inbox_seq"); got != fmt.Sprint(w.at.events[p.id]) {
				w.violate("model", "%s: inbox_seq: got %s, want %d", p.name, got, w.at.events[p.id])
			}
			unread := 0
			for _, n := range p.unread {
				unread += n
			}
			if got := a.Text("unread_dms"); got != fmt.Sprint(unread) {
				w.violate("model", "%s: unread_dms: got %s, want %d", p.name, got, unread)
			}
		}
		if a, want := read("/v1/me/credits"), p.paid()-p.spent+returned[p]; a.Status == 200 && a.Text("balance") != fmt.Sprint(want) {
			w.violate("model", "%s: balance: got %s, want %d (paid %d, spent %d, returned %d)", p.name, a.Text("balance"), want, p.paid(), p.spent, returned[p])
		}
		if a := read("/v1/me/memory"); a.Status == 200 && string(a.Body) != string(p.memory) {
			w.violate("model", "%s: memory: got %q, want %q", p.name, a.Body, p.memory)
		}
		w.checkFollows(p, read)
		for _, id := range slices.Sorted(maps.Keys(p.messages)) {
			if q := w.byID[id]; w.dice.N("conversation "+p.id+id, uint64(w.op))%4 == 0 {
				if a := read("/v1/dm/" + id); a.Status == 200 {
					w.converses(p, q, a)
				}
			}
		}
	}
}

func (w *world) checkFollows(p *person, read func(string) *transcripts.Answer) {
	got := map[string]bool{}
	target := "/v1/me/following?limit=4"
	for {
		a := read(target)
		if a.Status != 200 {
			return
		}
		for i := 0; ; i++ {
			kind := a.Text(fmt.Sprintf("items.%d.kind", i))
			if kind == "" {
				break
			}
			got[kind+" "+a.Text(fmt.Sprintf("items.%d.target", i))] = true
		}
		if a.Text("more") != "true" {
			break
		}
		target = "/v1/me/following?limit=4&before=" + a.Text("next_before")
	}
	for f := range p.follows {
		if !got[f] {
			w.violate("model", "%s follows %s, which its list lacks", p.name, f)
		}
	}
	for f := range got {
		if !p.follows[f] {
			w.violate("model", "%s does not follow %s, which its list has", p.name, f)
		}
	}
}

// converses compares the newest messages of a conversation with the model. It notes in the
// model that p has read them.
func (w *world) converses(p, q *person, a *transcripts.Answer) {
	all := p.messages[q.id]
	for i := range min(len(all), 10) {
		m := all[len(all)-1-i]
		at := fmt.Sprintf("items.%d.", i)
		want := m.body
		if m.taken || m.from.forgotten {
			want = ""
		}
		if got := a.Text(at + "body"); a.Text(at+"id") != m.id || got != want && (m.from.endedAt.IsZero() || got != "") {
			w.violate("model", "%s reads message %d with %s as %s %q, want %s %q", p.name, i, q.name, a.Text(at+"id"), got, m.id, want)
			return
		}
	}
	p.unread[q.id] = 0
	if w.unmarked == w.op { // the answer has the messages, but marking them as read failed
		w.newest()
		p.unread[q.id] = int(w.items[tables.ConversationKey(p.id, q.id)].Int("unread"))
	}
}

func (w *world) reads(p *person, target string, a *transcripts.Answer) {
	within := tables.PublicKeep + 3*time.Second // a process answers from memory for PublicKeep
	if strings.HasPrefix(target, "/v1/me/") {   // the stream's reader removes texts from inboxes, perhaps late
		within = 3 * time.Hour
	}
	if m := w.erased(string(a.Body), within); m != "" && !strings.HasPrefix(target, "/v1/cases/") {
		w.violate("erasure", "%s shows %q", target, m)
	}
	for _, q := range w.ended {
		if q.forgotten && !strings.HasPrefix(target, "/v1/me/") && strings.Contains(string(a.Body), `"handle":"`+q.name+`"`) {
			w.violate("erasure", "%s names %s", target, q.name)
		}
	}
	for secret, what := range w.codes {
		if len(secret) > 8 && strings.Contains(string(a.Body), secret) {
			w.violate("secrets", "%s shows %s", target, what)
		}
	}
}

// readsOwn checks that an author sees the newest state of its own post, whatever the process
// remembers.
func (w *world) readsOwn(p *person, target string, a *transcripts.Answer, began time.Time) {
	for _, x := range w.posts {
		byID := target == "/v1/posts/"+x.id
		if x.by != p || !byID && target != "/v1/c/"+x.channel+"/posts/"+x.id || w.pending(x) || w.judged(x) {
			continue
		}
		if byID && a.Status == 404 && began.Sub(x.at) < time.Second { // the index may lag
			continue
		}
		shown := a.Status == 200 && a.Text("body") == x.body
		switch {
		case x.deleted && x.goneAt.Before(began) && shown:
			w.violate("own writes", "%s shows what its author has deleted", target)
		case !x.gone() && x.at.Before(began) && !shown:
			w.violate("own writes", "%s does not show its author the post: %d %s", target, a.Status, a.Body)
		}
	}
}
