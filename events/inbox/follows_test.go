package inbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

// mortal is a table on which a process dies at its n'th commit. If made is true, that
// commit is still made.
type mortal struct {
	tables.Backend
	left atomic.Int64
	made bool
	die  context.CancelFunc
}

var errDead = errors.New("the process is dead")

func (m *mortal) Commit(ctx context.Context, tx tables.Tx) error {
	switch left := m.left.Add(-1); {
	case left < 0:
		return errDead
	case left == 0:
		m.die()
		if m.made {
			if err := m.Backend.Commit(context.Background(), tx); err != nil {
				return err
			}
		}
		return errDead
	}
	return m.Backend.Commit(ctx, tx)
}

// followed makes a table where n agents follow owl, and the first of them blocks owl.
func followed(t rapid.TB, n int) (f inbox, end func()) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	f = inbox{&app.App{Table: table, Now: time.Now, Rand: rand.Reader, Settings: app.DefaultSettings()}}
	var writes []tables.Write
	for i := range n {
		follower := fmt.Sprintf("ag_f%02d", i)
		follow := tables.Follow{ID: id.Event.New(time.Now(), rand.Reader), Agent: follower, Kind: tables.FollowAgent, Target: "ag_owl"}
		writes = append(writes, tables.Put(follow.Item()), tables.HandleClaim(follower[3:], follower))
	}
	writes = append(writes, (&tables.Block{Agent: "ag_f00", Other: "ag_owl", At: 1}).Begin(nil, nil)...)
	for part := range slices.Chunk(writes, tables.MaxTxWrites) {
		if err := table.Commit(context.Background(), tables.Tx{Writes: part}); err != nil {
			t.Fatal(err)
		}
	}
	return f, func() { table.Close() }
}

// dying runs handle in a process that dies at its n'th commit, and reports whether handle
// succeeded.
func (f inbox) dying(t rapid.TB, n int64, made bool, records []tables.StreamRecord) bool {
	ctx, die := context.WithCancel(context.Background())
	defer die()
	m := &mortal{Backend: f.Table, made: made, die: die}
	m.left.Store(n)
	own := *f.App
	own.Table = m
	err := inbox{&own}.handle(ctx, records)
	if dead := m.left.Load() <= 0; err != nil && !dead {
		t.Fatal(err)
	}
	return err == nil
}

func pushed(by, parentBy, body string) []tables.StreamRecord {
	p := tables.Post{ID: "po_1", Channel: "den", Author: tables.Author{ID: "ag_" + by, Handle: by}, Body: body, CreatedAt: 7, Pushed: true}
	if parentBy != "" {
		p.Parent, p.ParentBy = "po_0", parentBy
	}
	return []tables.StreamRecord{insert(p.Item())}
}

// heard reads an agent's inbox, and returns the events as "seq kind".
func heard(t rapid.TB, f inbox, agent string) (out []string) {
	for _, e := range read(t, f.Table, agent) {
		out = append(out, fmt.Sprint(e.Seq, " ", e.Kind))
	}
	return out
}

func checkPushed(t rapid.TB, f inbox, n int) {
	for i := range n {
		want := []string{"1 post"}
		switch i {
		case 0:
			want = nil
		case 1:
			want = []string{"1 reply"}
		case 2:
			want = []string{"1 mention"}
		}
		if got := heard(t, f, fmt.Sprintf("ag_f%02d", i)); !slices.Equal(got, want) {
			t.Fatalf("events of follower %d: got %q, want %q", i, got, want)
		}
	}
}

func TestPushArrivesOnceDespiteKills(t *testing.T) {
	const n = 24
	records := pushed("owl", "ag_f01", "good evening @f02")
	for _, made := range []bool{false, true} {
		alive := false
		for at := int64(1); !alive; at++ {
			if at > 2*n {
				t.Fatalf("commits of handle: got %d or more, want fewer", 2*n)
			}
			f, end := followed(t, n)
			alive = f.dying(t, at, made, records)
			if !f.dying(t, 1<<40, false, records) {
				t.Fatal("handle without kills: got an error")
			}
			checkPushed(t, f, n)
			end()
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f, end := followed(t, n)
		defer end()
		for range rapid.IntRange(0, 12).Draw(t, "deaths") {
			f.dying(t, rapid.Int64Range(1, 8).Draw(t, "at"), rapid.Bool().Draw(t, "made"), records)
		}
		f.dying(t, 1<<40, false, records)
		f.dying(t, 1<<40, false, records)
		checkPushed(t, f, n)
	})
}

func TestPushIsDecidedOnce(t *testing.T) {
	f, end := followed(t, 4)
	defer end()
	records := pushed("owl", "", "good evening")
	if err := f.handle(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	late := tables.Follow{ID: "ev_1", Agent: "ag_late", Kind: tables.FollowAgent, Target: "ag_owl"}
	gone := tables.Follow{Agent: "ag_f03", Kind: tables.FollowAgent, Target: "ag_owl"}
	writes := append([]tables.Write{tables.Put(late.Item())}, gone.End(nil)...)
	writes = append(writes, (&tables.Block{Agent: "ag_f00", Other: "ag_owl"}).End(nil)...)
	if err := f.Transact(t.Context(), writes...); err != nil {
		t.Fatal(err)
	}
	if err := f.handle(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string][]string{
		"ag_late": nil, "ag_f00": nil, "ag_f01": {"1 post"}, "ag_f02": {"1 post"}, "ag_f03": {"1 post"},
	} {
		if got := heard(t, f, agent); !slices.Equal(got, want) {
			t.Errorf("events of %s: got %q, want %q", agent, got, want)
		}
	}
	old := records[0].New
	deleted := tables.Item{}
	for k, v := range old {
		deleted[k] = v
	}
	deleted["deleted"] = true
	if err := f.handle(t.Context(), []tables.StreamRecord{{Event: "MODIFY", Key: old.Key(), Old: old, New: deleted}}); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"ag_f01", "ag_f02", "ag_f03"} {
		if e := read(t, f.Table, agent)[0]; e.Text != "" || !e.Deleted {
			t.Errorf("%s: got event %v, want it deleted and without text", agent, e)
		}
	}
}

func TestPushIsBounded(t *testing.T) {
	f, end := followed(t, 40)
	defer end()
	f.Settings.Limits.PushFollowers = 30
	records := pushed("owl", "", "good evening")
	deleted := tables.StreamRecord{Event: "MODIFY", Key: records[0].Key, Old: records[0].New, New: tables.Item{"type": tables.TypePost, "deleted": true}}
	for _, batch := range [][]tables.StreamRecord{{deleted}, records} {
		if err := f.handle(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	quiet := tables.Post{ID: "po_2", Channel: "den", Author: tables.Author{ID: "ag_owl"}, Body: "to nobody"}
	loud := tables.Post{ID: "po_3", Channel: "den", Author: tables.Author{ID: "ag_owl"}, Body: "to all", Pushed: true}
	if err := f.handle(t.Context(), []tables.StreamRecord{insert(quiet.Item()), insert(loud.Item())}); err != nil {
		t.Fatal(err)
	}
	total := 0
	for i := range 40 {
		for _, e := range heard(t, f, fmt.Sprintf("ag_f%02d", i)) {
			if e != "1 post" {
				t.Errorf("follower %d: got event %q, want %q", i, e, "1 post")
			}
			total++
		}
	}
	if total != 29 { // one of the 30 blocks the author
		t.Errorf("followers with the post: got %d, want 29", total)
	}
}

func TestFollowedOnceADay(t *testing.T) {
	f, table := open(t)
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	commit(t, table, tables.Put((&tables.Profile{ID: "ag_fox", Handle: "fox", Emoji: "🦊"}).Item()))
	follow := func(kind string, at time.Time) tables.StreamRecord {
		return insert((&tables.Follow{ID: id.Event.New(at, rand.Reader), Agent: "ag_fox", Kind: kind, Target: "ag_owl"}).Item())
	}
	for _, r := range [][]tables.StreamRecord{
		{follow("agent", noon), follow("agent", noon.Add(time.Hour)), follow("channel", noon)},
		{follow("agent", noon.Add(11*time.Hour+59*time.Minute))},
		{follow("agent", noon.Add(12*time.Hour))},
	} {
		for range 2 {
			if err := f.handle(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := events(t, table, "owl"); !slices.Equal(got, []string{"1 followed", "2 followed"}) {
		t.Errorf("events of owl: got %q, want two of kind followed", got)
	}
	page, err := table.Query(t.Context(), tables.EventsAfter("ag_owl", 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var e tables.InboxEvent
	if err := tables.Unmarshal(page.Items[0], &e); err != nil || e.From.Emoji != "🦊" || e.HappenedAt != noon.UnixMilli() || e.From.Handle != "fox" {
		t.Errorf("first event of owl: got %+v, error %v, want fox with its emoji at %d", e, err, noon.UnixMilli())
	}
}
