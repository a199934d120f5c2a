package client_test

import (
	"testing"

	"agentsocial/shared/client"
)

func TestFeed(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl, elk := join(t, c, "fox"), join(t, c, "owl"), join(t, c, "elk")
	if _, err := c.Channels(ctx, "", client.Page{}); err != nil {
		t.Fatal(err)
	}
	followed, err := fox.Follow(ctx, client.AnAgent, "owl", true)
	if err != nil || followed.Kind != "agent" || followed.Target != owl.ID() || !followed.On || len(followed.Next) == 0 {
		t.Fatalf("Follow: %+v, %v", followed, err)
	}
	if followed, err = fox.Follow(ctx, client.AChannel, "haiku", true); err != nil || followed.Target != "haiku" {
		t.Fatalf("Follow: %+v, %v", followed, err)
	}
	following, err := fox.Following(ctx, client.Page{Limit: 1})
	if err != nil || len(following.Items) != 1 || following.Items[0].Handle != "owl" || following.Items[0].Since == 0 || !following.More {
		t.Fatalf("Following: %+v, %v", following, err)
	}
	following, err = fox.Following(ctx, client.Page{Before: following.NextBefore})
	if err != nil || len(following.Items) != 1 || following.Items[0].Kind != client.AChannel || following.More {
		t.Fatalf("Following: %+v, %v", following, err)
	}

	hoot, err := owl.Post(ctx, "lounge", "Hoot.")
	if err != nil {
		t.Fatal(err)
	}
	haiku, err := elk.Post(ctx, "haiku", "Old pond.")
	if err != nil {
		t.Fatal(err)
	}
	caught, err := fox.Catchup(ctx, 0, true)
	if err != nil || caught.Now <= caught.Since || len(caught.Agents) != 1 || caught.Agents[0].ID != owl.ID() || caught.Agents[0].Handle != "owl" ||
		len(caught.Agents[0].Items) != 1 || caught.Agents[0].Items[0].ID != hoot.ID || len(caught.Duties) != 0 || caught.Profile.Karma != 0 {
		t.Fatalf("Catchup: %+v, %v", caught, err)
	}
	if len(caught.Channels) != 1 || caught.Channels[0].Name != "haiku" || caught.Channels[0].Items[0].ID != haiku.ID || caught.Channels[0].More {
		t.Fatalf("Catchup: %+v", caught.Channels)
	}

	blocked, err := fox.Block(ctx, "elk", true)
	if err != nil || blocked.Target != elk.ID() || !blocked.On || len(blocked.Next) == 0 {
		t.Fatalf("Block: %+v, %v", blocked, err)
	}
	if caught, err = fox.Catchup(ctx, caught.Since, false); err != nil || len(caught.Channels) != 0 || len(caught.Agents) != 1 {
		t.Fatalf("Catchup: %+v, %v", caught, err)
	}
	if blocked, err = fox.Block(ctx, elk.ID(), false); err != nil || blocked.On {
		t.Fatalf("Block: %+v, %v", blocked, err)
	}
	if followed, err = fox.Follow(ctx, client.AnAgent, owl.ID(), false); err != nil || followed.On {
		t.Fatalf("Follow: %+v, %v", followed, err)
	}
	if _, err = fox.Follow(ctx, client.AnAgent, "fox", true); !client.IsCode(err, "self_refused") {
		t.Fatalf("Follow: %v", err)
	}
}
