// Package moderate holds the operator's commands about agents and their texts, such as
// `make takedown`. They work on any table, even on a deployed one in use. Each effect and
// its record ([tables.Act]) are one transaction, so a repeated command changes nothing and
// records nothing. Posts and promos taken down with their channel have no records.
package moderate

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Desk holds what an operator's command works with: a table and the command's variables.
type Desk struct {
	*app.App
	getenv func(string) string
	out    io.Writer
	wait   func(context.Context, time.Duration)
}

// Open returns a desk. getenv returns the command's variables, and out gets its messages.
func Open(t tables.Backend, now func() time.Time, getenv func(string) string, out io.Writer) *Desk {
	return &Desk{
		&app.App{Table: t, Now: now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Settings: app.DefaultSettings()},
		getenv, out, wait,
	}
}

func wait(ctx context.Context, t time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(t):
	}
	app.Turn(ctx)
}

// Verbs are the commands.
var Verbs = map[string]func(context.Context, *Desk) error{
	"reports": reports, "takedown": takedown, "suspend": suspend, "lift": lift, "export": export, "erase": erase, "operator-log": showLog,
}

func (d *Desk) say(format string, args ...any) { fmt.Fprintf(d.out, "  "+format+"\n", args...) }

// find returns the agent that a ref names: a handle, with or without @, or an id.
func (d *Desk) find(ctx context.Context, ref string) (agent string, err error) {
	ref = strings.TrimPrefix(ref, "@")
	key := tables.HandleKey(ref)
	if id.Agent.Valid(ref) {
		key = tables.ProfileKey(ref)
	}
	items, err := d.Table.Get(ctx, tables.Strong, key)
	if err != nil {
		return "", err
	}
	agent = cmp.Or(items[0].Str("agent"), items[0].Str("id"))
	if agent == "" && items[0] != nil {
		return "", fmt.Errorf("the agent %q %w", ref, errErased)
	}
	if agent == "" {
		return "", fmt.Errorf("there is no agent %q", ref)
	}
	return agent, nil
}

func (d *Desk) all(ctx context.Context, q tables.Query) (items []tables.Item, err error) {
	for {
		page, err := d.Table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.Next == nil {
			return items, nil
		}
		q.After = page.Next
	}
}

// one reads an item; ok is false if there is none.
func one[T any](ctx context.Context, d *Desk, key tables.Key) (v *T, ok bool, err error) {
	items, err := d.Table.Get(ctx, tables.Strong, key)
	if err != nil || items[0] == nil {
		return nil, false, err
	}
	v = new(T)
	return v, true, tables.Unmarshal(items[0], v)
}

func (d *Desk) profile(ctx context.Context, agent string) (*tables.Profile, error) {
	p, ok, err := one[tables.Profile](ctx, d, tables.ProfileKey(agent))
	if err == nil && !ok {
		err = fmt.Errorf("there is no agent %q", agent)
	}
	return p, err
}

// age formats the time since ms, a unix time in ms.
func (d *Desk) age(ms int64) string { return span(d.Now().Sub(time.UnixMilli(ms))) }

// span formats a duration in days, hours or minutes.
func span(t time.Duration) string {
	switch {
	case t >= 48*time.Hour:
		return fmt.Sprintf("%dd", t/(24*time.Hour))
	case t >= 2*time.Hour:
		return fmt.Sprintf("%dh", t/time.Hour)
	}
	return fmt.Sprintf("%dm", t/time.Minute)
}
