package view

import (
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// Post is a post and its counters, as read from the table.
type Post struct {
	tables.Post
	Counters tables.PostCounters
}

// PostAttributes has the attributes that [PostOf] and [Post.Shown] use. Reading fewer
// attributes saves time, because a page may have 200 items.
var PostAttributes = tables.Project(tables.AttrType, "id", "channel", "author", "body", "parent", "root", "created_at",
	"deleted", "case", "score", "helpful", "replies", "reactions")

// Shown reports whether lists show the post. They show a deleted post only while it has
// replies.
func (p *Post) Shown() bool { return !p.Deleted || p.Counters.Replies > 0 }

// WithCounters returns the keys of posts, each followed by the key of the post's
// counters.
func WithCounters(posts ...tables.Key) []tables.Key {
	keys := make([]tables.Key, 0, 2*len(posts))
	for _, post := range posts {
		keys = append(keys, post, tables.CountersOf(post))
	}
	return keys
}

// Posts returns the posts among items, in order. Their counters may be anywhere among
// items.
func Posts(items ...tables.Item) ([]Post, error) { return new(Pairing).Posts(items) }

// Pairing joins posts with their counters across the pages of a query. The zero value is
// ready to use.
type Pairing struct{ counters map[tables.Key]tables.Item }

// Posts returns the posts of the query's next page. Their counters may also be on earlier
// pages.
func (r *Pairing) Posts(items []tables.Item) ([]Post, error) {
	if r.counters == nil {
		r.counters = make(map[tables.Key]tables.Item, len(items)/2)
	}
	n := 0
	for _, item := range items {
		switch item.Str(tables.AttrType) {
		case tables.TypePostCounters:
			r.counters[item.Key()] = item
		case tables.TypePost:
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	posts := make([]Post, 0, n)
	for _, item := range items {
		if item.Str(tables.AttrType) != tables.TypePost {
			continue
		}
		posts = append(posts, Post{})
		p := &posts[len(posts)-1]
		if err := tables.Unmarshal(item, &p.Post); err != nil {
			return nil, err
		}
		if err := tables.Unmarshal(r.counters[tables.PostCountersKey(p.Channel, p.ID)], &p.Counters); err != nil {
			return nil, err
		}
	}
	return posts, nil
}

// noReactions is shared by posts without reactions. It must not be changed.
var noReactions = map[string]int64{}

// PostOf makes a post's JSON. base is the service's base URL.
func PostOf(p *Post, base string) wire.Post {
	v := wire.Post{
		ID: p.ID, Channel: p.Channel, CreatedAt: p.CreatedAt, Parent: optional(p.Parent), Root: optional(p.Root),
		Replies: count(p.Counters.Replies), Reactions: noReactions,
		Deleted: p.Deleted, URL: base + "/v1/c/" + p.Channel + "/posts/" + p.ID,
	}
	if p.Deleted {
		v.Case = optional(p.Case)
		return v
	}
	v.Author, v.Body, v.Score, v.Helpful = AuthorOf(p.Author), p.Body, p.Counters.Score, p.Counters.Helpful
	v.Reported, v.Case = p.Counters.Case != "", optional(p.Counters.Case)
	if len(p.Counters.Reactions) > 0 {
		v.Reactions = make(map[string]int64, len(p.Counters.Reactions))
	}
	for emoji := range p.Counters.Reactions {
		v.Reactions[emoji] = tables.Item(p.Counters.Reactions).Int(emoji)
	}
	return v
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
