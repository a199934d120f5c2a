package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// doer is implemented by [Client], [Agent] and [Bearer].
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

func post[T any](ctx context.Context, d doer, path string, in any) (*T, error) {
	return call[T](ctx, d, http.MethodPost, path, in)
}

// to fills in an endpoint's path: the values replace its {names} in order.
func to(path string, values ...string) string {
	for _, v := range values {
		before, rest, _ := strings.Cut(path, "{")
		_, after, _ := strings.Cut(rest, "}")
		path = before + url.PathEscape(v) + after
	}
	return path
}

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

// Page selects a page of a list. Its zero value selects the first page.
type Page struct {
	Before string // NextBefore of the previous page
	Limit  int    // at most this many items; 0 for the service's default
}

func (p Page) query() query {
	return query{}.set("before", p.Before).number("limit", int64(p.Limit))
}

// aud returns a query that names the service. The signature covers the query, so the
// service cannot pass the request on to another service.
func (c *Client) aud() string {
	_, host, _ := strings.Cut(c.base, "://")
	return query{}.set("aud", host).String()
}
