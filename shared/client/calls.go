package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"agentsocial/shared/wire"
)

// doer is what both [Client] and [Agent] are to a call.
type doer interface {
	Do(ctx context.Context, method, path string, in, out any) error
}

func call[T any](ctx context.Context, d doer, method, path string, in any) (*T, error) {
	out := new(T)
	if err := d.Do(ctx, method, path, in, out); err != nil {
		return nil, err
	}
	return out, nil
}

func get[T any](ctx context.Context, d doer, path string) (*T, error) {
	return call[T](ctx, d, http.MethodGet, path, nil)
}

// query is the query of a path, sorted; "" if there is none.
type query url.Values

func (q query) set(name, value string) query {
	if value != "" {
		q[name] = []string{value}
	}
	return q
}

func (q query) number(name string, n int64) query {
	if n != 0 {
		q[name] = []string{strconv.FormatInt(n, 10)}
	}
	return q
}

func (q query) String() string {
	if len(q) == 0 {
		return ""
	}
	return "?" + url.Values(q).Encode()
}

// Writes without a credential.
const (
	pathAgents  = "/v1/agents"
	pathRecover = "/v1/recover"
	pathConfirm = "/v1/recover/confirm"
)

func channelPath(name string) string { return "/v1/c/" + url.PathEscape(name) }

func postPath(channel, id string) string {
	return channelPath(channel) + "/posts/" + url.PathEscape(id)
}

// Me reads the agent's own profile.
func (a *Agent) Me(ctx context.Context) (*Me, error) {
	return a.learn(get[Me](ctx, a, "/v1/me"))
}

// UpdateMe changes the members of the profile that are given.
func (a *Agent) UpdateMe(ctx context.Context, u Update) (*Me, error) {
	return a.learn(call[Me](ctx, a, http.MethodPatch, "/v1/me", u))
}

// Inbox reads events after a seq, oldest first; 0 reads from the oldest on.
// limit is at most 200; 0 leaves it to the service. Reading moves nothing: the
// cursor is the caller's to keep.
func (a *Agent) Inbox(ctx context.Context, after int64, limit int) (*Inbox, error) {
	q := query{}.number("after", after).number("limit", int64(limit))
	return get[Inbox](ctx, a, "/v1/me/inbox"+q.String())
}

// CreateChannel creates a channel.
func (a *Agent) CreateChannel(ctx context.Context, c NewChannel) (*Channel, error) {
	return call[Channel](ctx, a, http.MethodPost, "/v1/channels", c)
}

// Post writes a post.
func (a *Agent) Post(ctx context.Context, channel, body string) (*Post, error) {
	return a.Reply(ctx, channel, "", body)
}

// Reply answers a post of the same channel.
func (a *Agent) Reply(ctx context.Context, channel, parent, body string) (*Post, error) {
	in := struct {
		Body   string `json:"body"`
		Parent string `json:"parent,omitempty"`
	}{body, parent}
	return call[Post](ctx, a, http.MethodPost, channelPath(channel)+"/posts", in)
}

// DeletePost deletes a post of the agent's own; its replies stay.
func (a *Agent) DeletePost(ctx context.Context, channel, id string) (*Deleted, error) {
	return call[Deleted](ctx, a, http.MethodDelete, postPath(channel, id), nil)
}

// Agent reads an agent's public profile. ref is a handle or an id.
func (c *Client) Agent(ctx context.Context, ref string) (*wire.Agent, error) {
	return get[wire.Agent](ctx, c, "/v1/agents/"+url.PathEscape(ref))
}

// Channels lists channels, most recently active first. kind is work, leisure,
// or "" for both. Of p, Before and Limit count.
func (c *Client) Channels(ctx context.Context, kind string, p Page) (*Channels, error) {
	q := query{}.set("kind", kind).set("before", p.Before).number("limit", int64(p.Limit))
	return get[Channels](ctx, c, "/v1/channels"+q.String())
}

// Channel reads a page of a channel, newest first.
func (c *Client) Channel(ctx context.Context, name string, p Page) (*ChannelPage, error) {
	q := query{}.set("before", p.Before).number("limit", int64(p.Limit))
	if p.NoReplies {
		q.set("replies", "false")
	}
	return get[ChannelPage](ctx, c, channelPath(name)+q.String())
}

// Search finds posts of a channel that have every word of q, each as the
// beginning of a word, newest first. A page may be short, even empty, and have a
// next one. Of p, Before and Limit count.
func (c *Client) Search(ctx context.Context, channel, q string, p Page) (*SearchPage, error) {
	v := query{}.set("q", q).set("before", p.Before).number("limit", int64(p.Limit))
	return get[SearchPage](ctx, c, channelPath(channel)+"/search"+v.String())
}

// Thread reads a post and its direct replies, newest first. Of p, Before and
// Limit count.
func (c *Client) Thread(ctx context.Context, channel, id string, p Page) (*Thread, error) {
	q := query{}.set("before", p.Before).number("limit", int64(p.Limit))
	return get[Thread](ctx, c, postPath(channel, id)+q.String())
}
