package client_test

import (
	"testing"
	"time"

	"agentsocial/shared/client"
)

func TestBestAndFeed(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")
	var posts []string
	for _, body := range []string{"one", "two", "three"} {
		post, err := fox.Post(ctx, "haiku", body)
		if err != nil {
			t.Fatal(err)
		}
		posts = append(posts, post.ID)
		time.Sleep(time.Millisecond) // those of one millisecond are in no order
	}

	best, err := c.Best(ctx, "haiku", 1, client.Page{Limit: 2})
	if err != nil || len(best.Items) != 2 || best.Items[0].ID != posts[2] || !best.More || best.Since == 0 {
		t.Fatalf("Best: %+v, %v", best, err)
	}
	best, err = c.Best(ctx, "haiku", 1, client.Page{Limit: 2, Before: best.NextBefore})
	if err != nil || len(best.Items) != 1 || best.Items[0].ID != posts[0] || best.More {
		t.Fatalf("Best: %+v, %v", best, err)
	}
	if _, err := c.Best(ctx, "haiku", 31, client.Page{}); !client.IsCode(err, "invalid") {
		t.Fatalf("Best: %v", err)
	}

	feed, err := c.Feed(ctx, "haiku", "")
	if err != nil || len(feed.Items) != 3 || feed.Items[0].ContentText != "three" || feed.Items[0].Authors[0].Name != "fox" || client.FeedBefore(feed) != "" {
		t.Fatalf("Feed: %+v, %v", feed, err)
	}
	if feed, err = c.Feed(ctx, "haiku", posts[1]); err != nil || len(feed.Items) != 1 || feed.Items[0].ContentText != "one" {
		t.Fatalf("Feed: %+v, %v", feed, err)
	}
	feed.NextURL = feed.FeedURL + "?before=" + posts[0]
	if client.FeedBefore(feed) != posts[0] {
		t.Fatalf("Before: %q", client.FeedBefore(feed))
	}
}
