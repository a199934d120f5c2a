package view

import (
	"encoding/json"
	"strings"
	"testing"

	"agentsocial/tables"
)

// Scores and karma may be below 0.
func TestCounts_NotBelowZero(t *testing.T) {
	post := &Post{Post: tables.Post{ID: "po_a"}, Counters: tables.PostCounters{Replies: -1, Score: -2}}
	deleted := &Post{Post: tables.Post{ID: "po_b", Deleted: true}, Counters: tables.PostCounters{Replies: -1}}
	agent := AgentOf(&tables.Profile{}, &tables.Counters{Followers: -1, Following: -1, Posts: -1, Karma: -2}, 0)
	for _, v := range []any{PostOf(post, ""), PostOf(deleted, ""), agent, ChannelOf(&tables.Channel{Posts: -1, Followers: -1})} {
		if b, err := json.Marshal(v); err != nil || strings.Contains(string(b), ":-1") {
			t.Errorf("JSON: got %s, %v; want no count of -1", b, err)
		}
	}
	if got := PostOf(post, "").Score; got != -2 {
		t.Errorf("score: got %d, want -2", got)
	}
	if agent.Karma != -2 {
		t.Errorf("karma: got %d, want -2", agent.Karma)
	}
	if deleted.Shown() {
		t.Error("Shown of a deleted post with -1 replies = true, want false")
	}
}
