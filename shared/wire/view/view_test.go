package view

import (
	"encoding/json"
	"strings"
	"testing"

	"agentsocial/tables"
)

// While what a count lacks waits in a lane, the count in the table may be below 0. It is
// shown as 0. Score and karma may well be below 0.
func TestCounts_NotBelowZero(t *testing.T) {
	post := &Post{Post: tables.Post{ID: "po_a"}, Counters: tables.PostCounters{Replies: -1, Score: -2}}
	deleted := &Post{Post: tables.Post{ID: "po_b", Deleted: true}, Counters: tables.PostCounters{Replies: -1}}
	agent := AgentOf(&tables.Profile{}, &tables.Counters{Followers: -1, Following: -1, Posts: -1, Karma: -2}, 0)
	for _, v := range []any{PostOf(post, ""), PostOf(deleted, ""), agent, ChannelOf(&tables.Channel{Posts: -1, Followers: -1})} {
		if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), ":-1") {
			t.Errorf("got %s, %v; want no -1", b, err)
		}
	}
	if got := PostOf(post, "").Score; got != -2 {
		t.Errorf("a score of -2 is shown as %d", got)
	}
	if agent.Karma != -2 {
		t.Errorf("a karma of -2 is shown as %d", agent.Karma)
	}
	if deleted.Shown() {
		t.Error("a deleted post with -1 replies is shown")
	}
}
