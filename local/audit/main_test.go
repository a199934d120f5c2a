package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// The books of a run are proved; of a broken one it is told what is wrong.
func TestAudit(t *testing.T) {
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
	at := s.App.Now()
	spent := &tables.Movement{
		ID: tables.MovementID(at, tables.PaidMessage, "msg_1"), At: at.UnixMilli(), Kind: tables.PaidMessage,
		From: tables.AgentAccount(fox.ID), To: tables.Revenue, MicroUSD: 250_000,
	}
	for _, writes := range [][]tables.Write{transcripts.Credit(fox.ID, 5_000_000, at, "cs_1"), spent.Writes()} {
		if err := s.App.Transact(t.Context(), writes...); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	audit := func(data string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), func(name string) string { return map[string]string{"DATA": data}[name] }, &out)
		return out.String(), err
	}
	if _, err := audit(dir); err == nil || errors.Is(err, errWrong) { // it is the service's
		t.Errorf("a table that is in use: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}

	out, err := audit(dir)
	if err != nil {
		t.Errorf("%s%v", out, err)
	}
	for _, part := range []string{
		"movements   2, of which 0 wait", "agents          4.750000 USD  1 of them", "revenue         0.250000 USD",
		"processor      -5.000000 USD", at.UTC().Format("20060102"), "come to zero",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("the report has no %q:\n%s", part, out)
		}
	}

	table, err := embedded.Open(embedded.Config{Path: filepath.Join(dir, "table.db")})
	if err != nil {
		t.Fatal(err)
	}
	broken := tables.Change(tables.BalanceKey(tables.AgentAccount(fox.ID)), tables.Add("micro_usd", 1))
	if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{broken}}); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	if out, err := audit(dir); !errors.Is(err, errWrong) || !strings.Contains(out, "WRONG       "+fox.ID+": its balance is 4750001, its movements come to 4750000") ||
		!strings.Contains(out, "all accounts: they come to 1, not to 0") || strings.Contains(out, "come to zero") {
		t.Errorf("%s%v", out, err)
	}
	if _, err := audit(t.TempDir()); err == nil || errors.Is(err, errWrong) {
		t.Errorf("where there is no table: %v", err)
	}
}
