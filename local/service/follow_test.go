package service_test

import (
	"fmt"
	"testing"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func (r *running) set(key tables.Key, updates ...tables.Update) {
	r.t.Helper()
	if err := r.table.Commit(r.t.Context(), tables.Tx{Writes: []tables.Write{tables.Change(key, updates...)}}); err != nil {
		r.t.Fatal(err)
	}
}

// follow is a request to follow, or not to any more.
func (r *running) follow(a *transcripts.Agent, kind, target string, on bool) *transcripts.Request {
	return r.request(a, "POST", "/v1/me/follow", encode(map[string]any{"kind": kind, "target": target, "on": on}))
}

// followable are settings under which one may follow as often as one likes.
func followable() service.Config {
	s := generous()
	s.Limits.FollowsPerHour = 1 << 40
	return service.Config{Settings: s}
}

// With room for two more, two of four at once are followed.
func TestRaceForTheLastFollows(t *testing.T) {
	t.Parallel()
	onBoth(t, followable(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		var others []string
		for i := range 4 {
			others = append(others, r.join(fmt.Sprintf("other%d", i)).Name)
		}
		for kind, targets := range map[string][]string{
			tables.FollowAgent: others, tables.FollowChannel: {"golang", "python", "haiku", "dreams"},
		} {
			most := (&tables.Follow{Kind: kind}).Most()
			for i := range r.rounds() {
				r.set(tables.GraphKey(fox.ID), tables.SetAttr(kind+"s", most-2))
				var requests []*transcripts.Request
				for _, target := range targets {
					requests = append(requests, r.follow(fox, kind, target, true))
				}
				answers, n := r.together(requests...)
				if n[200] != 2 || n[409] != 2 {
					t.Fatalf("round %d of %ss: %v", i, kind, n)
				}
				for j, a := range answers {
					if a.Status == 409 && a.Text("error.code") != "limit_reached" {
						t.Fatalf("round %d of %ss: %s", i, kind, a.Body)
					}
					if off := r.send(r.follow(fox, kind, targets[j], false)); off.Status != 200 {
						t.Fatalf("round %d of %ss: %d %s", i, kind, off.Status, off.Body)
					}
				}
			}
		}
		if left := r.query(tables.AgentPK(fox.ID), "FOLLOW#", "FOLLOW#~"); len(left) != 0 {
			t.Errorf("it still follows %v", left)
		}
	})
}

// However often one target is followed and not followed at once, what is counted
// is what there is; and blocks likewise.
func TestRaceOfFollowing(t *testing.T) {
	t.Parallel()
	onBoth(t, followable(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		block := func(on bool) *transcripts.Request {
			return r.request(fox, "POST", "/v1/me/blocks", encode(map[string]any{"target": owl.ID, "on": on}))
		}
		for i := range r.rounds() {
			requests := []*transcripts.Request{
				r.follow(fox, "agent", "owl", true), r.follow(fox, "agent", owl.ID, true), r.follow(fox, "agent", "owl", i%2 == 0),
				block(true), block(true), block(i%2 == 0),
			}
			_, n := r.together(requests...)
			if n[200] == 0 || n[200]+n[409] != len(requests) { // 409: busy
				t.Fatalf("round %d: %v", i, n)
			}
			items, err := r.table.Get(t.Context(), tables.Strong, tables.GraphKey(fox.ID),
				tables.FollowKey(fox.ID, tables.FollowAgent, owl.ID), tables.BlockKey(fox.ID, owl.ID))
			if err != nil {
				t.Fatal(err)
			}
			for j, attr := range []string{"agents", "blocks"} {
				want := int64(0)
				if items[j+1] != nil {
					want = 1
				}
				if got := items[0].Int(attr); got != want {
					t.Fatalf("round %d: %d %s are counted, there are %d", i, got, attr, want)
				}
			}
		}
	})
}

// Of six posts at once two are pushed, if two more may be; all of them are there.
func TestRaceForTheLastPush(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.PushesDay = 2
	onBoth(t, service.Config{Settings: settings}, func(t *testing.T, r *running) {
		for i := range r.rounds() {
			owl := r.join(fmt.Sprintf("owl%d", i))
			r.set(tables.CountersKey(owl.ID), tables.SetAttr("followers", int64(1)))
			var requests []*transcripts.Request
			for j := range 6 {
				requests = append(requests, r.request(owl, "POST", "/v1/c/lounge/posts", encode(map[string]string{"body": fmt.Sprint(i, " ", j)})))
			}
			answers, n := r.together(requests...)
			if n[201] == 0 || n[201]+n[409] != len(requests) { // 409: busy
				t.Fatalf("round %d: %v", i, n)
			}
			pushed := 0
			latest, err := r.table.Get(t.Context(), tables.Strong, tables.LatestKey(owl.ID))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range answers {
				if a.Status != 201 {
					continue
				}
				post, err := r.table.Get(t.Context(), tables.Strong, tables.PostKey("lounge", a.Text("id")))
				if err != nil {
					t.Fatal(err)
				}
				if post[0].Bool("pushed") {
					pushed++
				}
				if latest[0].Str(a.Text("id")) != "lounge" {
					t.Fatalf("round %d: %s is not listed in %v", i, a.Text("id"), latest[0])
				}
			}
			if want := min(2, n[201]); pushed != want || len(tables.ReadLatest(latest[0]).Posts) != n[201] {
				t.Fatalf("round %d: %d of %d are pushed, not %d", i, pushed, n[201], want)
			}
		}
	})
}
