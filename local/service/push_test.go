package service_test

import (
	"fmt"
	"testing"

	"agentsocial/local/service"
	"agentsocial/tables"
)

// One after another, as many posts of a day are pushed as may be, while there are
// no more followers than may be; the others are posts like any.
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
				t.Fatalf("%d followers, post %d: %d %s", followers, i, ans.Status, ans.Body)
			}
			post, err := r.table.Get(t.Context(), tables.Strong, tables.PostKey("lounge", ans.Text("id")))
			if err != nil {
				t.Fatal(err)
			}
			if got := post[0].Bool("pushed"); got != pushed {
				t.Errorf("%d followers, post %d: pushed %v", followers, i, got)
			}
		}
	}
}
