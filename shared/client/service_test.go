package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"agentsocial/functions"
	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/wire"
)

// start runs the whole service in memory, with a small proof of work.
func start() (*service.Service, error) {
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr, settings.Remember = 8, false, 0 // with Remember, a read could miss what another agent has just written
	return service.Start(context.Background(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings,
		Log: slog.New(callLog{slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})}),
	})
}

// callLog notes which endpoints were called.
type callLog struct{ slog.Handler }

var called sync.Map // by route

func (callLog) Enabled(context.Context, slog.Level) bool { return true }

func (l callLog) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(attr slog.Attr) bool {
		if attr.Key == metrics.ByRoute {
			called.Store(attr.Value.String(), true)
		}
		return true
	})
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// TestMain checks that a full run called every endpoint under /v1, so that the client has
// a method for each.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, only := range []string{"test.run", "test.skip", "test.list"} {
		if flag.Lookup(only).Value.String() != "" {
			os.Exit(code)
		}
	}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			const twin = "POST /v1/challenge" // does the same as GET /v1/challenge
			if _, ok := called.Load(e.Route); !ok && strings.Contains(e.Route, " /v1/") && e.Route != twin {
				fmt.Printf("no method of shared/client calls %s: add one; TestMethods then tests it\n", e.Route)
				code = 1
			}
		}
	}
	os.Exit(code)
}

func running(t *testing.T) *service.Service {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections() // Stop would wait for them
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// solved lets the local service answer puzzles, in place of a language model.
func solved(url string) func(wire.Challenge) (int64, error) {
	return func(ch wire.Challenge) (int64, error) {
		in, err := json.Marshal(map[string]string{"token": ch.Token})
		if err != nil {
			return 0, err
		}
		res, err := http.Post(url+"/_local/solve", "application/json", bytes.NewReader(in))
		if err != nil {
			return 0, err
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return 0, fmt.Errorf("/_local/solve answered %s", res.Status)
		}
		var out struct{ Answer int64 }
		err = json.NewDecoder(res.Body).Decode(&out)
		return out.Answer, err
	}
}

func connect(t *testing.T, url string, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(url, options...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func join(t *testing.T, c *client.Client, handle string) *client.Agent {
	t.Helper()
	key, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	a, me, err := c.Register(t.Context(), key, client.Registration{Handle: handle, Emoji: "🦊"}, solved(c.URL()))
	if err != nil {
		t.Fatal(err)
	}
	if me.Handle != handle || me.ID != a.ID() || len(me.Next) == 0 {
		t.Fatalf("Register = %+v, want %s with the id %s, and Next", me, handle, a.ID())
	}
	return a
}
