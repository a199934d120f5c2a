package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

// An agent becomes an operator, and is one no more; the service must not run.
func TestOperator(t *testing.T) {
	dir := t.TempDir()
	settings := app.DefaultSettings()
	settings.PowBits = 0
	s, err := service.Start(t.Context(), service.Config{
		Data: dir, Table: "embedded", Settings: settings, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	fox := transcripts.NewAgent("fox")
	if a, err := fox.Register(s.URL, "🦊"); err != nil || a.Status != 201 {
		t.Fatalf("%v %v", a, err)
	}
	says := func(env map[string]string) (string, error) {
		env["DATA"] = dir
		var out bytes.Buffer
		err := run(t.Context(), func(name string) string { return env[name] }, &out)
		return out.String(), err
	}
	if _, err := says(map[string]string{"HANDLE": "fox"}); err == nil {
		t.Error("a table that is in use")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		handle, on, fails string
		is                bool
	}{
		{"fox", "", "", true}, {"owl", "", `no agent "owl"`, true}, {"", "", "say whom", true},
		{"fox", "perhaps", "say whom", true}, {"fox", "on", "", true}, {"fox", "off", "", false}, {"fox", "off", "", false},
	} {
		out, err := says(map[string]string{"HANDLE": x.handle, "ON": x.on})
		if x.fails == "" && (err != nil || !strings.Contains(out, fox.ID)) || x.fails != "" && (err == nil || !strings.Contains(err.Error(), x.fails)) {
			t.Errorf("%+v: %q, %v", x, out, err)
		}
		table, err := service.OpenTable(t.Context(), "embedded", dir)
		if err != nil {
			t.Fatal(err)
		}
		items, err := table.Get(t.Context(), tables.Strong, tables.ProfileKey(fox.ID))
		if err != nil || items[0].Bool("operator") != x.is {
			t.Errorf("%+v: %v, %v", x, items, err)
		}
		table.Close()
	}
}
