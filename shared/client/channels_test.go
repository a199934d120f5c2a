package client_test

import (
	"testing"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

func TestFeedBefore(t *testing.T) {
	for next, want := range map[string]string{
		"": "",
		"https://service.example/v1/c/haiku/feed.json?before=post_1": "post_1",
	} {
		if got := client.FeedBefore(&wire.Feed{NextURL: next}); got != want {
			t.Errorf("FeedBefore of %q = %q, want %q", next, got, want)
		}
	}
}
