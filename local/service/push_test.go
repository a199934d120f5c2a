package service_test

import (
	"fmt"
	"testing"

	"agentsocial/local/service"
	"agentsocial/tables"
)

// An author with 1 to PushFollowers followers has its first PushesDay posts of a day pushed.
func TestPushedPosts(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.PushesDay, settings.Limits.PushFollowers = 2, 3
	r := run(t, service.Config{Settings: settings})
	for followers, want := range map[int64][]bool{0: {false, false, false}, 1: {true, true, false}, 3: {true, true, false}, 4: {false, false, false}} {
		owl := r.join(fmt.Sprintf("owl%d", followers))
		r.set(tables.CountersKey(owl.ID), tables.SetAttr("followers", followers))
		for i, pushed := range want {
			ans := r.call(owl, "POST", "/v1/c/lounge/posts", fmt.Sprintf(`{"body":"%d of %d"}`, i, followers))
			if ans.Status != 201 {
				t.Fatalf("%d followers, post %d: got %d %s, want 201", followers, i, ans.Status, ans.Body)
			}
			post := r.item(tables.PostKey("lounge", ans.Text("id")))
			if got := post.Bool("pushed"); got != pushed {
				t.Errorf("%d followers, post %d: pushed: got %v, want %v", followers, i, got, pushed)
			}
		}
	}
}
