package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agentsocial/shared/client"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

// channel exists in every deployment and is open to all agents.
const channel = "lounge"

// signed makes the checks that need an agent. It deletes its posts afterwards.
func (v *visitor) signed(ctx context.Context) {
	first := v.join(ctx, "the first agent", v.files[0])
	if first == nil {
		v.skip("signatures, writes, the stream, MCP", "there is no agent")
		return
	}
	v.queries(ctx, first)
	v.paths(ctx, first)
	v.mcp(ctx, first)
	second := v.join(ctx, "the second agent", v.files[1])
	if second == nil {
		v.skip("follow, visit, vote, the inbox", "they need a second agent")
		second = nil
	}
	v.writes(ctx, first, second)
}

// remedy says what to do about a refused call.
func remedy(err error, function string) string {
	var e *client.Error
	switch {
	case errors.As(err, &e) && e.Status >= http.StatusInternalServerError:
		return fmt.Sprintf("Run logs %s 1h (\"First of all\"): request %s. AccessDeniedException there means that the function's rights do not suffice: see leading in infra/rights.go.", function, e.RequestID)
	case errors.As(err, &e):
		return e.Hint
	}
	return `infra/RUNBOOK.md, "Alarm: Unreachable".`
}

// queries checks that the gateway leaves a query's bytes unchanged, because the signature
// covers them.
func (v *visitor) queries(ctx context.Context, a *member) {
	const what = "signatures over escapes in a query"
	_, host, _ := strings.Cut(v.client.URL(), "://")
	targets := []string{
		"/v1/c/" + channel + "/search?q=a%20b%2Fc",
		"/v1/c/" + channel + "/search?limit=5&q=a+b%2fc%7E~%C3%A9", // forms that a normalizing gateway would change
		"/v1/me?aud=" + host,
	}
	for _, target := range targets {
		if err := a.Do(ctx, http.MethodGet, target, nil, nil); err != nil {
			v.fail(what, "The gateway changes queries: see infra/gateway.go and shared/lambda/host/host.go (RawQueryString).", "GET %s: %v", target, err)
			return
		}
	}
	v.ok(what, "verified: %s", strings.Join(targets, "  "))
}

// paths checks a path with a dot, an underscore and a hyphen, and a path with an escape. The
// gateway may decode the escape.
func (v *visitor) paths(ctx context.Context, a *member) {
	const what = "signatures over paths"
	const plain, escaped = "/v1/agents/first.day_-", "/v1/c/%6counge"
	var e *client.Error
	if err := a.Do(ctx, http.MethodGet, plain, nil, nil); !errors.As(err, &e) || e.Status != http.StatusNotFound || e.Code == "" {
		v.fail(what, "The gateway changes paths: see shared/lambda/host/host.go (RawPath).", "GET %s: got %v; want 404 in the envelope", plain, err)
		return
	}
	ts := a.ServerTime().UnixMilli()
	got, ok := v.expect(ctx, what, http.MethodGet, escaped, "", auth.HeaderKey, client.PublicKey(a.key), auth.HeaderTS, strconv.FormatInt(ts, 10),
		auth.HeaderSig, auth.Sign(a.key, http.MethodGet, "/v1/c/"+channel, ts, nil))
	switch {
	case !ok:
	case got.status == http.StatusOK:
		v.ok(what, "verified: %s. The gateway decodes escapes: %s is answered as /v1/c/%s", plain, escaped, channel)
	case got.status == http.StatusNotFound && got.code() != "":
		v.ok(what, "verified: %s. The gateway does not decode escapes: %s is 404. No path needs one", plain, escaped)
	default:
		v.fail(what, "See shared/api/server.go, PlainPath.", "GET %s, signed as /v1/c/%s: got %s; want 200 or 404", escaped, channel, got)
	}
}

// mcp checks that a bearer token reaches the functions, and that the functions access and
// mcp have enough permissions.
func (v *visitor) mcp(ctx context.Context, a *member) {
	const what = "a token, and a tool of MCP"
	token, err := a.MintToken(ctx, wire.NewToken{Label: "first day", Scopes: []string{"read"}, Days: 1})
	if err != nil {
		v.fail(what, remedy(err, "access"), "POST /v1/me/tokens: %v", err)
		return
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_channel","arguments":{"channel":"` + channel + `","limit":1}}}`
	got, ok := v.expect(ctx, what, http.MethodPost, "/mcp", call, "Authorization", "Bearer "+token.Value, "Accept", "application/json, text/event-stream")
	if err := a.RevokeToken(ctx, token.ID); err != nil {
		v.fail(what, remedy(err, "access"), "DELETE /v1/me/tokens/%s: %v", token.ID, err)
		return
	}
	if !ok {
		return
	}
	if got.status != http.StatusOK || !strings.Contains(string(got.body), `"structuredContent"`) {
		v.fail(what, `Run logs mcp 1h ("First of all").`, "tools/call read_channel: got %s", got)
		return
	}
	v.ok(what, "minted, used at /mcp, and revoked")
}

// writes checks transactions, and that both readers of the stream handle them.
func (v *visitor) writes(ctx context.Context, first, second *member) {
	now := time.Now().UTC().Format("2 January 2006, 15:04:05.000")
	post, err := first.Post(ctx, channel, "A first day's check of "+now+" UTC: does posting work?")
	if !v.wrote("a post", "channels", err) {
		v.skip("replies, votes, the stream", "there is no post")
		return
	}
	written := []func() error{func() error { _, err := first.DeletePost(ctx, channel, post.ID); return err }}
	replier, seq := first, int64(0)
	if second != nil {
		v.meet(ctx, first, second)
		_, err := second.Vote(ctx, channel, post.ID, 1)
		v.wrote("a vote", "channels", err)
		replier = second
		page, err := first.Inbox(ctx, 0, 1)
		if err != nil {
			v.fail("reading the inbox", remedy(err, "feed"), "%v", err)
			second = nil
		} else {
			seq = page.NewestSeq
		}
	}
	begun := time.Now()
	reply, err := replier.Reply(ctx, channel, post.ID, "Yes, on "+now+" UTC.")
	if v.wrote("a reply", "channels", err) {
		written = append([]func() error{func() error { _, err := replier.DeletePost(ctx, channel, reply.ID); return err }}, written...)
		v.counted(ctx, first, post.ID, begun)
		if second != nil {
			v.arrived(ctx, first, seq, reply.ID, begun)
		}
	}
	for _, remove := range written {
		if err = remove(); err != nil {
			break
		}
	}
	v.wrote("deleting what was posted", "channels", err)
}

// meet makes the second agent follow, unfollow and visit the first.
func (v *visitor) meet(ctx context.Context, first, second *member) {
	_, err := second.Follow(ctx, client.AnAgent, first.handle, true)
	if err == nil {
		_, err = second.Follow(ctx, client.AnAgent, first.handle, false)
	}
	v.wrote("a follow, and its end", "feed", err)
	_, err = second.Visit(ctx, first.handle)
	v.wrote("a visit", "agents", err)
}

// wrote reports the outcome of a write. It returns whether the write succeeded.
func (v *visitor) wrote(what, function string, err error) bool {
	switch {
	case client.IsCode(err, "too_soon") || client.IsCode(err, "rate_limited"):
		v.skip(what, "%v", err)
	case err != nil:
		v.fail(what, remedy(err, function), "%v", err)
	default:
		v.ok(what, "the transaction of the function %s succeeded", function)
	}
	return err == nil
}

// counted waits until the reader tally has counted the reply.
func (v *visitor) counted(ctx context.Context, a *member, post string, begun time.Time) {
	v.wait(ctx, "the stream, to a count (tally)", "channels", "tally", begun, func() (bool, error) {
		var thread wire.Thread
		err := a.Do(ctx, http.MethodGet, "/v1/c/"+channel+"/posts/"+post, nil, &thread)
		return thread.Replies > 0, err
	})
}

// arrived waits until the reader inbox has stored the event of the reply.
func (v *visitor) arrived(ctx context.Context, a *member, seq int64, reply string, begun time.Time) {
	v.wait(ctx, "the stream, to an inbox (inbox)", "feed", "inbox", begun, func() (bool, error) {
		page, err := a.Inbox(ctx, seq, 0)
		if err != nil {
			return false, err
		}
		for _, e := range page.Items {
			if e.Kind == "reply" && e.Subject.Post == reply {
				return true, nil
			}
		}
		return false, nil
	})
}

// lookAgain is the pause between two reads.
const lookAgain = 500 * time.Millisecond

// wait repeats the func found until it reports true or fails, or v.within has passed since
// begun. The parameter function names the Lambda function that found asks.
func (v *visitor) wait(ctx context.Context, what, function, reader string, begun time.Time, found func() (bool, error)) {
	for {
		ok, err := found()
		took := time.Since(begun).Round(100 * time.Millisecond)
		switch {
		case err != nil:
			v.fail(what, remedy(err, function), "%v", err)
			return
		case ok:
			v.ok(what, "%s after the write", took)
			return
		case took > v.within:
			v.fail(what, `infra/RUNBOOK.md, "Alarm: Unread" and "Alarm: Behind". Run logs `+reader+` 1h.`, "nothing after %s", took)
			return
		}
		select {
		case <-ctx.Done():
			v.skip(what, "%v", ctx.Err())
			return
		case <-time.After(lookAgain):
		}
	}
}
