package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

// breakable is a table that refuses writes to inboxes while it is broken.
type breakable struct {
	tables.Backend
	broken atomic.Bool
}

func (b *breakable) Commit(ctx context.Context, tx tables.Tx) error {
	for _, w := range tx.Writes {
		if b.broken.Load() && w.Item.Str(tables.AttrType) == tables.TypeInboxWaiting {
			return errors.New("broken")
		}
	}
	return b.Backend.Commit(ctx, tx)
}

// start runs the service on an embedded table, and registers fox.
func start(t *testing.T, dir string, broken bool) (*service.Service, *transcripts.Agent) {
	t.Helper()
	settings := app.DefaultSettings()
	settings.PowBits = 0
	s, err := service.Start(t.Context(), service.Config{
		Data: dir, Table: "embedded", Settings: settings, Log: quiet(),
		Wrap: func(b tables.Backend) tables.Backend {
			w := &breakable{Backend: b}
			w.broken.Store(broken)
			return w
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	fox := transcripts.NewAgent("fox")
	if a, err := fox.Register(s.URL, "🦊"); err != nil || a.Status != 201 {
		t.Fatalf("registering fox: got %v, %v; want 201", a, err)
	}
	return s, fox
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func stop(t *testing.T, s *service.Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func makes(t *testing.T, verb string, env map[string]string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), verb, func(name string) string { return env[name] }, &out)
	return out.String(), err
}

func says(t *testing.T, out string, err error, parts ...string) {
	t.Helper()
	if err != nil {
		t.Errorf("got error %v, want none", err)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("output lacks %q", part)
		}
	}
	if t.Failed() {
		t.Fatalf("output:\n%s", out)
	}
}

func TestVerbs(t *testing.T) {
	for _, verb := range []string{"", "audits", "-h"} {
		if _, err := makes(t, verb, nil); err == nil || !strings.Contains(err.Error(), "[adopt audit claim-keys compact erase export lift list-balances list-cases list-given list-posts operator operator-log redrive replay reports restore restore-drill suspend takedown]") {
			t.Errorf("command %q: got error %v, want the list of commands", verb, err)
		}
	}
	for _, verb := range allVerbs() {
		if out, err := makes(t, verb, map[string]string{"DATA": t.TempDir()}); err == nil || !strings.Contains(err.Error(), "holds no table") {
			t.Errorf("%s without a table: got output %s, error %v; want \"holds no table\"", verb, out, err)
		}
	}
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	stop(t, s)
	path := filepath.Join(dir, "table.db")
	now := time.Now()
	table, err := embedded.Open(embedded.Config{Path: path, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	large := tables.Item{"pk": "C#large", "sk": "P", "b": make([]byte, 300_000)}
	for n := range 20 {
		large["sk"] = fmt.Sprint("P", n)
		for _, w := range []tables.Write{tables.Put(large), tables.Delete(large.Key())} {
			if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{w}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	now = now.Add(25 * time.Hour) // the stream's records have expired
	_, err = table.Sweep(t.Context())
	if err := errors.Join(err, table.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"DATA": dir}
	out, err := makes(t, "compact", env)
	says(t, out, err, "compacted   from ")
	if after, err := os.Stat(path); err != nil || after.Size() > before.Size()/2 {
		t.Errorf("compacted file: got %d bytes of %d, error %v; want at most half", after.Size(), before.Size(), err)
	}
	file := filepath.Join(t.TempDir(), "fox.json")
	if err := os.WriteFile(file, nil, 0o644); err != nil { // an older file that everybody may read
		t.Fatal(err)
	}
	out, err = makes(t, "export", map[string]string{"DATA": dir, "AGENT": "fox", "REASON": "privacy: a test", "OPERATOR": "ann", "OUT": file})
	says(t, out, err, fox.ID)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the export: got %v, %v; want a file that only its owner may read", info, err)
	}
}

func TestAudit(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
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
	env := map[string]string{"DATA": dir}
	for _, verb := range allVerbs() {
		if _, err := makes(t, verb, env); err == nil || !strings.Contains(err.Error(), "is the service running?") {
			t.Errorf("%s of a table in use: got error %v, want \"is the service running?\"", verb, err)
		}
	}
	stop(t, s)
	out, err := makes(t, "audit", env)
	says(t, out, err,
		"movements   2, of which 0 are not summed", "agents          4.750000 USD  1 agents", "revenue         0.250000 USD",
		"processor      -5.000000 USD", at.UTC().Format("20060102"), "sum to zero",
	)

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
	if out, err := makes(t, "audit", env); !errors.Is(err, errWrong) || !strings.Contains(out, "WRONG       "+fox.ID+": its balance is 4750001, its movements come to 4750000") ||
		!strings.Contains(out, "all accounts: they come to 1, not to 0") || strings.Contains(out, "sum to zero") {
		t.Errorf("wrong books: got output\n%s\nerror %v; want fox's balance and the sum of all accounts as problems", out, err)
	}
	if out, err := makes(t, "restore-drill", env); !errors.Is(err, errWrong) || !strings.Contains(err.Error(), "the copy is kept") || !strings.Contains(out, "they come to 1") {
		t.Errorf("a backup with wrong books: got output\n%s\nerror %v; want its problem, and the copy kept", out, err)
	}
}

func TestListBalances(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	if err := s.App.Transact(t.Context(), transcripts.Credit(fox.ID, 5_000_000, s.App.Now(), "cs_1")...); err != nil {
		t.Fatal(err)
	}
	old := tables.Change(tables.BalanceKey(tables.AgentAccount(fox.ID)), tables.RemoveAttr("parent_pk"), tables.RemoveAttr("parent_sk"))
	if err := s.App.Transact(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	env := map[string]string{"DATA": dir}
	for i, n := range []int{1, 0} {
		out, err := makes(t, "audit", env)
		says(t, out, err, "agents          5.000000 USD", "sum to zero")
		if strings.Contains(out, "unlisted    1 balances") != (n > 0) {
			t.Errorf("audit before run %d: got\n%s\nwant an unlisted balance: %t", i+1, out, n > 0)
		}
		out, err = makes(t, "list-balances", env)
		says(t, out, err, fmt.Sprintf("listed      %d balances", n))
	}
}

func TestClaimKeys(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	old := func(pub string, at int64) *tables.AgentKey {
		return &tables.AgentKey{Pub: pub, Epoch: 1, AddedAt: at}
	}
	profile := func(agent string, keys int64) tables.Write {
		return tables.Put((&tables.Profile{ID: agent, Handle: agent, Epoch: 1, Keys: keys}).Item())
	}
	err := s.App.Transact(t.Context(),
		profile("ag_owl", 3), old("shared", 5).Add("ag_owl"), old("owl's", 6).Add("ag_owl"), old(fox.Pub(), 7).Add("ag_owl"),
		profile("ag_elk", 2), old("elk's", 7).Add("ag_elk"), old("shared", 8).Add("ag_elk"),
		profile("ag_hen", 1), old("shared", 9).Add("ag_hen"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	env := map[string]string{"DATA": dir}
	for _, counts := range []string{"claimed     3 keys; removed 2 ", "claimed     0 keys; removed 0 "} {
		out, err := makes(t, "claim-keys", env)
		says(t, out, err, counts, "shared belongs to ag_owl, but is the only key of ag_hen, so it was not removed")
	}
	table := opened(t, dir)
	defer table.Close()
	for pub, owner := range map[string]string{"shared": "ag_owl", "owl's": "ag_owl", "elk's": "ag_elk", fox.Pub(): fox.ID} {
		items, err := table.Get(t.Context(), tables.Strong, tables.KeyClaimKey(pub),
			tables.AgentKeyKey("ag_elk", pub), tables.AgentKeyKey("ag_owl", pub))
		if err != nil {
			t.Fatal(err)
		}
		if got := items[0].Str("agent"); got != owner || items[0].Bool("added") != (owner != fox.ID) {
			t.Errorf("%s: got the claim %v, want %s's, added: %t", pub, items[0], owner, owner != fox.ID)
		}
		if (items[1] != nil) != (owner == "ag_elk") || (items[2] != nil) != (owner == "ag_owl") {
			t.Errorf("%s: got elk's %v, owl's %v; want no other than %s's", pub, items[1], items[2], owner)
		}
	}
}

func TestOperator(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	stop(t, s)
	for _, x := range []struct {
		handle, on, fails string
		is                bool
	}{
		{"fox", "", "", true}, {"owl", "", `no agent "owl"`, true}, {"", "", "HANDLE is empty", true},
		{"fox", "perhaps", `ON="perhaps"`, true}, {"@fox", "on", "", true}, {"fox", "off", "", false}, {"fox", "off", "", false},
	} {
		out, err := makes(t, "operator", map[string]string{"DATA": dir, "HANDLE": x.handle, "ON": x.on})
		if x.fails == "" && (err != nil || !strings.Contains(out, fox.ID)) || x.fails != "" && (err == nil || !strings.Contains(err.Error(), x.fails)) {
			t.Errorf("%+v: got output %q, error %v; want the agent's id, or an error with %q", x, out, err, x.fails)
		}
		if is := profile(t, dir, fox.ID).Bool("operator"); is != x.is {
			t.Errorf("%+v: got operator %v, want %v", x, is, x.is)
		}
	}
}

func profile(t *testing.T, dir, agent string) tables.Item {
	t.Helper()
	table := opened(t, dir)
	defer table.Close()
	items, err := table.Get(t.Context(), tables.Strong, tables.ProfileKey(agent))
	if err != nil {
		t.Fatal(err)
	}
	return items[0]
}

func opened(t *testing.T, dir string) *service.Table {
	t.Helper()
	table, err := service.OpenTable(t.Context(), "embedded", dir)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestRestoreDrill(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	if err := s.App.Transact(t.Context(), transcripts.Credit(fox.ID, 5_000_000, s.App.Now(), "cs_1")...); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	path := filepath.Join(dir, "table-drill.db")
	env := map[string]string{"DATA": dir}
	for range 2 {
		out, err := makes(t, "restore-drill", env)
		says(t, out, err, path, "items were the same", "0 items changed", "sum to zero", "the copy is good, and was removed", "movement                          1          1",
			"counted the 0 items that had waited")
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the backup still exists: %v", err)
		}
	}
	if _, err := makes(t, "restore", map[string]string{"DATA": dir, "AT": "2026-11-22T01:30:00Z"}); err == nil || !strings.Contains(err.Error(), "only a deployed table") {
		t.Errorf("restore of an embedded table: got error %v, want \"only a deployed table\"", err)
	}

	if _, err := makes(t, "redrive", map[string]string{"DATA": dir, "AT": "yesterday"}); err == nil || !strings.Contains(err.Error(), "is not a time") {
		t.Errorf("redrive with an invalid AT: got error %v, want \"is not a time\"", err)
	}
	if _, err := makes(t, "replay", env); err == nil || !strings.Contains(err.Error(), "only a deployed table") {
		t.Errorf("replay of an embedded table: got error %v, want \"only a deployed table\"", err)
	}

	table := opened(t, dir)
	defer table.Close()
	key := tables.ProfileKey(fox.ID)
	for what, c := range map[string]struct {
		copied, table func() tables.Write // applied after the backup's time
		wrong         string
	}{
		"lost in the copy":    {func() tables.Write { return tables.Delete(key) }, nil, key.PK + " " + key.SK + " is not in the copy"},
		"changed in the copy": {func() tables.Write { return tables.Change(key, tables.SetAttr("bio", "x")) }, nil, key.PK + " " + key.SK + " differs in the copy"},
		"changed in the table": {
			func() tables.Write {
				return tables.Change(tables.Key{PK: "X", SK: "gone"}, tables.SetAttr("n", int64(1)))
			},
			func() tables.Write { return tables.Change(key, tables.SetAttr("now", time.Now().String())) }, "",
		},
	} {
		var out bytes.Buffer
		j := job{Table: table, getenv: func(string) string { return "" }, out: &out}
		err := j.drill(t.Context(), func(ctx context.Context, past func() error) (*backup, error) {
			b, err := j.copyFile(ctx, func() error {
				if c.table != nil {
					if err := table.Commit(ctx, tables.Tx{Writes: []tables.Write{c.table()}}); err != nil {
						return err
					}
				}
				return past()
			})
			if err == nil {
				err = b.Scanner.(*embedded.Table).Commit(ctx, tables.Tx{Writes: []tables.Write{c.copied()}})
			}
			return b, err
		})
		if c.wrong == "" {
			says(t, out.String(), err, "1 items changed")
			continue
		}
		if !errors.Is(err, errBackup) || !strings.Contains(out.String(), "WRONG       "+c.wrong) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got error %v, output\n%s\nwant the problem %q, and an error with %s", what, err, &out, c.wrong, path)
		}
		if err := os.Remove(path); err != nil {
			t.Errorf("%s: the backup was removed: %v", what, err)
		}
	}
}

// A copy elsewhere has neither the stream nor the readers' positions.
func TestRestoreDrillElsewhere(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	stop(t, s)
	table := opened(t, dir)
	if err := table.Commit(t.Context(), tables.Tx{Writes: transcripts.Credit(fox.ID, 5_000_000, time.Now(), "cs_1")}); err != nil {
		t.Fatal(err)
	}
	table.Close() // no reader has seen the purchase
	secrets := func() (all []string) {
		for _, name := range []string{sealFile, pepperFile} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
		return all
	}
	before := secrets()
	out, err := makes(t, "restore-drill", map[string]string{"DATA": dir})
	says(t, out, err, "movements   1, of which 1 are not summed yet",
		"elsewhere   a copy without its stream: the reader tally counted the 1 items that had waited for it, and the books are right",
		"with the service's seal and pepper: agents' keys and tokens work; a verified mail address recovers its agent; what the service sealed before is accepted",
		"with others: agents' keys and tokens work; no verified mail address is known, so no agent can be recovered by mail; whatever the service sealed before is refused",
		"Keep a copy of both secrets", "the copy is good, and was removed")
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("the drill left %v, %v; want nothing", left, err)
	}
	if now := secrets(); !slices.Equal(now, before) {
		t.Error("the drill changed the service's secrets")
	}
	if err := os.WriteFile(filepath.Join(dir, pepperFile), []byte("lost"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := makes(t, "restore-drill", map[string]string{"DATA": dir}); !errors.Is(err, errElsewhere) || !strings.Contains(err.Error(), "pepper is damaged") || !strings.Contains(err.Error(), "the copy is kept") {
		t.Errorf("with a damaged pepper: got error %v, want errElsewhere, \"pepper is damaged\" and \"the copy is kept\"", err)
	}
	table = opened(t, dir)
	defer table.Close()
	err = table.Scan(t.Context(), func(i tables.Item) error {
		if strings.HasPrefix(i.Str("handle"), "drill-") {
			t.Errorf("the drill wrote %v into the table", i.Key())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWaiting(t *testing.T) {
	movement := func(to tables.Account, counted bool) tables.Item {
		m := tables.Movement{ID: fox, From: tables.Processor, To: to, MicroUSD: 1, Counted: counted}
		i := m.Item()
		i["counted"] = counted
		return i
	}
	typed := func(name string) tables.Item { return tables.Item{"pk": "x", "sk": name, tables.AttrType: name} }
	for what, c := range map[string]struct {
		item tables.Item
		want bool
	}{
		"a vote":             {typed(tables.TypeVote), true},
		"a counted vote":     {typed(tables.TypeVoteCounted), false},
		"reactions":          {typed(tables.TypeReactions), true},
		"counted reactions":  {typed(tables.TypeReactionsCounted), false},
		"a helpful mark":     {typed(tables.TypeHelpful), true},
		"support":            {typed(tables.TypeSupport), true},
		"counted support":    {typed(tables.TypeSupportCounted), false},
		"a post":             {typed(tables.TypePost), false},
		"a purchase":         {movement(tables.AgentAccount(fox), false), true},
		"a counted purchase": {movement(tables.AgentAccount(fox), true), false},
	} {
		if got, err := waits(c.item); err != nil || got != c.want {
			t.Errorf("%s waits: got %t, error %v; want %t", what, got, err, c.want)
		}
	}
}

// The table is older than the index of posts by id.
func TestListPosts(t *testing.T) {
	dir := t.TempDir()
	s, _ := start(t, dir, false)
	var keys []tables.Key
	for i := range 3 {
		p := &tables.Post{ID: fmt.Sprintf("po_%d", i), Channel: "lounge", CreatedAt: 1}
		old := p.CountersItem()
		delete(old, "parent_pk")
		delete(old, "parent_sk")
		old["score"] = int64(7)
		if err := s.App.Transact(t.Context(), tables.Put(old)); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, old.Key())
	}
	stop(t, s)
	for _, n := range []int{3, 0} {
		out, err := makes(t, "list-posts", map[string]string{"DATA": dir})
		says(t, out, err, fmt.Sprintf("listed      %d posts", n))
	}
	table := opened(t, dir)
	defer table.Close()
	for i, k := range keys {
		page, err := table.Query(t.Context(), tables.PostWithID(fmt.Sprintf("po_%d", i)))
		if err != nil || len(page.Items) != 1 || page.Items[0].Key() != k {
			t.Errorf("post %d by its id: got %v, error %v; want only %v", i, page.Items, err, k)
		}
		items, err := table.Get(t.Context(), tables.Strong, k)
		if err != nil || items[0].Int("score") != 7 {
			t.Errorf("post %d: got the counters %v, %v, want the score 7", i, items[0], err)
		}
	}
}

// The table is older than the lists of cases.
func TestListCases(t *testing.T) {
	dir := t.TempDir()
	s, _ := start(t, dir, false)
	c := &tables.Case{ID: "ca_1", Kind: tables.CasePost, Target: "po_1", State: tables.CaseLapsed, Settled: true}
	unlisted := tables.Change(tables.CaseKey(c.ID), tables.RemoveAttr("parent_pk"), tables.RemoveAttr("parent_sk"))
	if err := errors.Join(s.App.Once(t.Context(), c.Begin()), s.Drain(t.Context()), s.App.Once(t.Context(), unlisted)); err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	for _, n := range []int{1, 0} {
		out, err := makes(t, "list-cases", map[string]string{"DATA": dir})
		says(t, out, err, fmt.Sprintf("listed      %d cases", n))
	}
	table := opened(t, dir)
	defer table.Close()
	page, err := table.Query(t.Context(), tables.CasesIn(tables.CaseLapsed, "", 10))
	if err != nil || len(page.Items) != 1 || page.Items[0].Key() != tables.CaseKey(c.ID) {
		t.Errorf("lapsed cases: got %v, %v, want %s", page.Items, err, c.ID)
	}
}

// The table is older than the lists of what agents gave.
func TestListGiven(t *testing.T) {
	dir := t.TempDir()
	s, fox := start(t, dir, false)
	vote := tables.Vote{Post: "po_1", Channel: "lounge", By: fox.ID, To: "ag_owl", V: 1}
	report := tables.Report{ID: "ev_1", Target: "po_1", By: fox.ID}
	post := &tables.Post{ID: "po_2", Channel: "lounge", Author: tables.Author{ID: fox.ID, Handle: "fox"}, Deleted: true}
	listed := []tables.Key{tables.VoteKey("po_1", fox.ID, false), tables.ReportKey("po_1", fox.ID), tables.KeyClaimKey(fox.Pub())}
	gone := &tables.Profile{ID: "ag_elk", State: tables.StateErased, ErasedAt: 7}
	visit := tables.Visit{ID: "ev_2", Agent: fox.ID, Visitor: tables.Author{ID: gone.ID, Handle: "elk"}}
	left := visit.Item().Key()
	writes := []tables.Write{vote.Cast(), report.Once(), tables.Put(post.Item()), tables.Put(gone.Item()), tables.Put(visit.Item())}
	if err := s.App.Transact(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	if err := s.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, k := range append(slices.Clone(listed), left) {
		if err := s.App.Once(t.Context(), tables.Change(k, tables.RemoveAttr("author_pk"), tables.RemoveAttr("author_sk"))); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, s)
	env := map[string]string{"DATA": dir}
	for _, want := range []string{"listed      3 items", "listed      0 items"} {
		out, err := makes(t, "list-given", env)
		n := strings.Count(want, "3")
		says(t, out, err, want, fmt.Sprintf("erasing     %d items", n), fmt.Sprintf("names of %d deleted", n))
	}
	table, err := service.OpenTable(t.Context(), "embedded", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	page, err := table.Query(t.Context(), tables.Given(fox.ID, "", 10))
	if err != nil || len(page.Items) != len(listed) {
		t.Errorf("fox's list: got %v, error %v; want %d items", page.Items, err, len(listed))
	}
	again, err := table.Query(t.Context(), tables.ErasuresDue(time.Now().Add(2*tables.EraseAfter), 10))
	if err != nil || len(again.Items) != 1 || again.Items[0].Key() != tables.ErasureKey(gone.ID) {
		t.Errorf("erasures: got %v, %v, want that of %s", again.Items, err, gone.ID)
	}
	page, err = table.Query(t.Context(), tables.Given(gone.ID, "", 10))
	if err != nil || len(page.Items) != 1 || page.Items[0].Key() != left {
		t.Errorf("elk's list: got %v, %v, want %v", page.Items, err, left)
	}
	items, err := table.Get(t.Context(), tables.Strong, tables.PostKey("lounge", "po_2"))
	if author, _ := items[0]["author"].(tables.Map); err != nil || author["handle"] != nil || author["id"] != fox.ID {
		t.Errorf("got the deleted post %v, error %v; want its author with the id %s and no handle", items[0], err, fox.ID)
	}
}
