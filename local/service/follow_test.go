package service_test

import (
	"fmt"
	"testing"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func (r *running) follow(a *transcripts.Agent, kind, target string, on bool) *transcripts.Request {
	return r.request(a, "POST", "/v1/me/follow", encode(map[string]any{"kind": kind, "target": target, "on": on}))
}

func TestRaceForTheLastFollows(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
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
				answers, _ := r.together(requests...)
				r.decided(i, answers, outcomes{"200": 2, "409 limit_reached": 2})
				for _, target := range targets {
					r.want(r.send(r.follow(fox, kind, target, false)), 200, "")
				}
			}
		}
		if left := r.query(tables.AgentPK(fox.ID), "FOLLOW#", "FOLLOW#~"); len(left) != 0 {
			t.Errorf("follows: got %v, want none", left)
		}
	})
}

func TestRaceOfFollowing(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
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
				t.Fatalf("round %d: got outcomes %v, want 200 and 409, and at least one 200", i, n)
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
					t.Fatalf("round %d: %s: got %d, want %d", i, attr, got, want)
				}
			}
		}
	})
}

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
				t.Fatalf("round %d: got outcomes %v, want 201 and 409, and at least one 201", i, n)
			}
			pushed := 0
			latest := r.item(tables.LatestKey(owl.ID))
			for _, a := range answers {
				if a.Status != 201 {
					continue
				}
				post := r.item(tables.PostKey("lounge", a.Text("id")))
				if post.Bool("pushed") {
					pushed++
				}
				if latest.Str(a.Text("id")) != "lounge" {
					t.Fatalf("round %d: %s is not listed in %v", i, a.Text("id"), latest)
				}
			}
			if want, listed := min(2, n[201]), len(tables.ReadLatest(latest).Posts); pushed != want || listed != n[201] {
				t.Fatalf("round %d: got %d posts pushed and %d listed, want %d and %d", i, pushed, listed, want, n[201])
			}
		}
	})
}
