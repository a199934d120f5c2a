package service_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/functions"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/text/pack"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
	"agentsocial/tables/retry"
)

// inBubble runs a test of the functions in a synctest bubble, without network or stream.
func inBubble(t *testing.T, play func(r *running)) {
	t.Helper()
	// The packer makes Go channels on first use. They must not belong to the bubble.
	if packed, err := pack.Pack([]byte(".")); err != nil {
		t.Fatal(err)
	} else if _, err := pack.Unpack(packed); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		table, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		box, err := seal.New(make([]byte, seal.MinKey))
		if err != nil {
			t.Fatal(err)
		}
		a := &app.App{
			Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Settings: generous(),
			Box: func(context.Context) (*seal.Box, error) { return box, nil },
		}
		a.Table, a.Settings.BaseURL = retry.Over(table, a.Intn), "https://social.example"
		play(&running{Service: &service.Service{App: a, URL: a.Settings.BaseURL}, t: t, table: table, handler: api.NewServer(a, functions.Groups(a)...)})
	})
}

// joinDirectly writes a registered agent to the table, without calling the service.
func (r *running) joinDirectly(name string) *transcripts.Agent {
	r.t.Helper()
	a, now := transcripts.NewAgent(name), r.App.Now()
	r.put(a.Joined(id.Agent.New(now, r.App.Rand), now)...)
	return a
}
