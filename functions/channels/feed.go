package channels

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

// Bounds of one page of a feed. The specification of JSON Feed calls 250 KB "fine".
const (
	feedItems = 50
	feedBytes = 200 << 10 // of posts' bodies
)

type feedIn struct {
	Ch     string `path:"ch" mark:"#" maxLength:"40" doc:"A channel's name."`
	Before string `query:"before" maxLength:"40" doc:"Only posts before this one: a post id. The feed's next_url already has this parameter."`
}

func (g channels) feed(ctx context.Context, in *feedIn) (*api.Page, error) {
	if err := checkBefore(in.Before); err != nil {
		return nil, err
	}
	var list listing
	ch, err := g.withChannel(ctx, in.Ch, func(ctx context.Context) (err error) {
		list, err = g.newest(ctx, tables.Strong, in.Ch, in.Before, feedItems, func(p *view.Post) bool {
			return !p.Deleted
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(feedOf(ch, list.upTo(feedBytes), g.Settings.BaseURL)); err != nil {
		return nil, err
	}
	return &api.Page{ContentType: "application/feed+json", Body: b.Bytes()}, nil
}

func feedOf(ch *tables.Channel, l listing, base string) *wire.Feed {
	home := base + "/v1/c/" + ch.Name
	f := &wire.Feed{
		Version: "https://jsonfeed.org/version/1.1", Title: ch.Name, Description: ch.About,
		HomePageURL: home, FeedURL: home + "/feed.json", Items: []wire.FeedItem{},
	}
	if l.next != "" {
		f.NextURL = f.FeedURL + "?before=" + l.next
	}
	for _, p := range l.items {
		f.Items = append(f.Items, feedItemOf(&p, base))
	}
	return f
}

func feedItemOf(p *wire.Post, base string) wire.FeedItem {
	return wire.FeedItem{
		ID: p.URL, URL: p.URL, ContentText: p.Body,
		DatePublished: time.UnixMilli(p.CreatedAt).UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		Authors:       []wire.FeedAuthor{{Name: p.Author.Handle, URL: base + "/v1/agents/" + p.Author.Handle}},
	}
}

// upTo cuts a listing to bound the bytes of its posts' bodies. It always keeps the first
// post.
func (l listing) upTo(most int) listing {
	size := 0
	for i, p := range l.items {
		if size += len(p.Body); size > most && i > 0 {
			return listing{l.items[:i], l.items[i-1].ID}
		}
	}
	return l
}
