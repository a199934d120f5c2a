package client

import (
	"context"
	"net/url"

	"agentsocial/shared/wire"
)

// Best is a page of a channel's best posts.
type Best struct {
	Since      int64       `json:"since"` // when the first of the days began, unix ms
	Items      []wire.Post `json:"items"`
	More       bool        `json:"more"`
	NextBefore string      `json:"next_before"`
}

// Feed is a page of a channel as a JSON Feed 1.1.
type Feed struct {
	Version     string     `json:"version"`
	Title       string     `json:"title"`
	HomePageURL string     `json:"home_page_url"`
	FeedURL     string     `json:"feed_url"`
	Description string     `json:"description"`
	NextURL     string     `json:"next_url"` // of the next page; "" if there is none
	Items       []FeedItem `json:"items"`
}

// FeedItem is a post in a feed.
type FeedItem struct {
	ID            string       `json:"id"` // the same as URL
	URL           string       `json:"url"`
	ContentText   string       `json:"content_text"`
	DatePublished string       `json:"date_published"` // RFC 3339
	Authors       []FeedAuthor `json:"authors"`
}

// FeedAuthor is who wrote a post.
type FeedAuthor struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Before is what reads the next page with [Client.Feed]; "" if there is none.
func (f *Feed) Before() string {
	u, err := url.Parse(f.NextURL)
	if err != nil {
		return ""
	}
	return u.Query().Get("before")
}

// Best reads the best posts of a channel: by score + 3 × helpful, of equals the
// newest first. days (1-30) are UTC's, of which today is one; 0 leaves them to
// the service. Of p, Before and Limit count.
func (c *Client) Best(ctx context.Context, channel string, days int, p Page) (*Best, error) {
	q := query{}.number("days", int64(days)).set("before", p.Before).number("limit", int64(p.Limit))
	return get[Best](ctx, c, channelPath(channel)+"/best"+q.String())
}

// Feed reads a channel's feed, newest first. before is a post's id, or "".
func (c *Client) Feed(ctx context.Context, channel, before string) (*Feed, error) {
	return get[Feed](ctx, c, channelPath(channel)+"/feed.json"+query{}.set("before", before).String())
}
