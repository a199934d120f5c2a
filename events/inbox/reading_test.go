package inbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/shared/app"
	"agentsocial/shared/app/inboxes"
	"agentsocial/tables"
)

// between is a table that calls do once, right before the first commit with a write for
// which when is true.
type between struct {
	tables.Backend
	when func(tables.Write) bool
	mu   sync.Mutex
	do   func()
}

func (b *between) Commit(ctx context.Context, tx tables.Tx) error {
	var do func()
	if slices.ContainsFunc(tx.Writes, b.when) {
		b.mu.Lock()
		do, b.do = b.do, nil
		b.mu.Unlock()
	}
	if do != nil {
		do()
	}
	return b.Backend.Commit(ctx, tx)
}

// before returns an inbox on a [between] table.
func (f inbox) before(when func(tables.Write) bool, do func()) (inbox, *between) {
	own, b := *f.App, &between{Backend: f.Table, when: when, do: do}
	own.Table = b
	return inbox{&own}, b
}

func puts(typ string) func(tables.Write) bool {
	return func(w tables.Write) bool { return w.Item.Str(tables.AttrType) == typ }
}

func deletes(w tables.Write) bool { return w.Op == tables.OpDelete }
func updates(w tables.Write) bool { return w.Op == tables.OpUpdate }

func (f inbox) hand(t rapid.TB, records ...tables.StreamRecord) {
	t.Helper()
	if err := f.handle(context.Background(), records); err != nil {
		t.Fatal(err)
	}
}

// whole returns the posts of numbered and of waiting events. It checks that numbers have
// no gap, times are in order, and no post is there twice.
func whole(t rapid.TB, f inbox, agent string) (numbered, waiting []string) {
	t.Helper()
	q := tables.News(agent, 0, 0)
	page, err := f.Table.Query(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	seen, at := map[string]bool{}, int64(0)
	for _, item := range page.Items {
		var e tables.InboxEvent
		if err := tables.Unmarshal(item, &e); err != nil {
			t.Fatal(err)
		}
		post, _ := e.Subject["post"].(string)
		switch item.Str(tables.AttrType) {
		case tables.TypeInboxEvent:
			numbered = append(numbered, post)
			if e.Seq != int64(len(numbered)) || e.At < at {
				t.Fatalf("inbox of %s: got event %d at %d, want event %d at %d or later", agent, e.Seq, e.At, len(numbered), at)
			}
			at = e.At
		case tables.TypeInboxWaiting:
			waiting = append(waiting, post)
		case tables.TypeInboxHead:
			if n := item.Int("seq"); n != int64(len(numbered)) {
				t.Fatalf("inbox of %s: got seq %d in the head, want %d, the number of events", agent, n, len(numbered))
			}
			continue
		}
		if seen[post] {
			t.Fatalf("inbox of %s: got %s twice, want it once", agent, post)
		}
		seen[post] = true
	}
	return numbered, waiting
}

func holds(t *testing.T, f inbox, agent string, numbered, waiting []string) {
	t.Helper()
	if n, w := whole(t, f, agent); !slices.Equal(n, numbered) || !slices.Equal(w, waiting) {
		t.Errorf("inbox of %s: got numbered %q and waiting %q, want %q and %q", agent, n, w, numbered, waiting)
	}
}

func replies(from, n int) (records []tables.StreamRecord) {
	for i := range n {
		records = append(records, posted(fmt.Sprintf("po_%03d", from+i), "owl", "fox", "hello"))
	}
	return records
}

func removed(r tables.StreamRecord) tables.StreamRecord {
	gone := maps.Clone(r.New)
	gone["deleted"] = true
	return tables.StreamRecord{Event: "MODIFY", Key: r.Key, Old: r.New, New: gone}
}

func TestRaceOfReadings(t *testing.T) {
	for _, before := range []int{0, 3} {
		f, table := open(t)
		f.hand(t, replies(0, before)...)
		read(t, table, "ag_fox")
		f.hand(t, replies(before, 40)...)
		var first []tables.InboxEvent
		racing, b := f.before(puts(tables.TypeInboxHead), func() { first = read(t, table, "ag_fox") })
		second := read(t, racing.Table, "ag_fox")
		if b.do != nil || len(first) != before+40 || !slices.EqualFunc(first, second, func(a, b tables.InboxEvent) bool {
			return a.Seq == b.Seq && a.Subject["post"] == b.Subject["post"]
		}) {
			t.Errorf("readings after %d events: got %v and %v, want the same %d events; got a race = %t, want true", before, first, second, before+40, b.do == nil)
		}
		if numbered, waiting := whole(t, f, "ag_fox"); len(numbered) != before+40 || waiting != nil {
			t.Errorf("inbox after %d events: got numbered %q and waiting %q, want %d and none", before, numbered, waiting, before+40)
		}
	}
}

// TestReadingOrder checks that events get numbers in the order of the stream, even if
// their causes happened in another order.
func TestReadingOrder(t *testing.T) {
	f, table := open(t)
	var records []tables.StreamRecord
	for i := range 9 {
		records = append(records, replies(i, 1)...)
		records[i].New["created_at"] = int64(1000 - i)
	}
	f.hand(t, records[:4]...)
	f.hand(t, records[4:]...)
	events := read(t, table, "ag_fox")
	holds(t, f, "ag_fox", []string{"po_000", "po_001", "po_002", "po_003", "po_004", "po_005", "po_006", "po_007", "po_008"}, nil)
	if !slices.IsSortedFunc(events, func(a, b tables.InboxEvent) int { return cmp.Compare(a.At, b.At) }) {
		t.Errorf("events: got %+v, want them in the order of their times", events)
	}
}

func TestReadingRacesWithDelivery(t *testing.T) {
	f, table := open(t)
	f.hand(t, replies(5, 1)...)
	racing, b := f.before(puts(tables.TypeInboxHead), func() { f.hand(t, replies(0, 1)...) })
	if got := read(t, racing.Table, "ag_fox"); len(got) != 1 || b.do != nil {
		t.Errorf("first reading: got events %v and a race = %t, want one event and true", got, b.do == nil)
	}
	holds(t, f, "ag_fox", []string{"po_005"}, []string{"po_000"})
	read(t, table, "ag_fox")
	holds(t, f, "ag_fox", []string{"po_005", "po_000"}, nil)
}

func TestDeliveredAgain(t *testing.T) {
	for name, when := range map[string]func(tables.Write) bool{"the put": puts(tables.TypeInboxWaiting), "the check": deletes} {
		f, table := open(t)
		records := replies(0, 1)
		f.hand(t, records...)
		f.hand(t, records...)
		holds(t, f, "ag_fox", nil, []string{"po_000"})
		if name == "the check" { // check deletes the repeated event only if the first one has its number
			read(t, table, "ag_fox")
		}
		again, b := f.before(when, func() {
			if got := read(t, table, "ag_fox"); len(got) != 1 {
				t.Errorf("reading before %s: got %v, want one event", name, got)
			}
		})
		again.hand(t, records...)
		if b.do != nil {
			t.Errorf("readings before %s: got 0, want 1", name)
		}
		holds(t, f, "ag_fox", []string{"po_000"}, nil)
		again.hand(t, records...)
		holds(t, f, "ag_fox", []string{"po_000"}, nil)
	}
}

// TestDeliveredLate checks that a repeated change is recognized until its event expires,
// whenever the event was read.
func TestDeliveredLate(t *testing.T) {
	const day = 24 * time.Hour
	for _, readAt := range []time.Duration{0, 26 * day, 89 * day, 91 * day} {
		f, table := open(t)
		now := time.Now()
		f.Now = func() time.Time { return now }
		begin, records := now, replies(0, 1)
		f.hand(t, records...)
		read := func(want int) {
			t.Helper()
			page, err := inboxes.Read(t.Context(), f.App, "ag_fox", 0, 0, 50)
			if err != nil || len(page.Events) != want || page.Waits {
				t.Errorf("read after %s, now %s: got %+v, error %v, want %d events and Waits false", readAt, now.Sub(begin), page, err, want)
			}
			for _, e := range page.Events {
				if left := time.Unix(e.TTL, 0).Sub(begin).Round(time.Minute); left != 90*day {
					t.Errorf("life of the event read after %s: got %s, want 90 days", readAt, left)
				}
			}
		}
		for _, at := range []time.Duration{0, 26 * day, 89 * day, 91 * day} {
			if now = begin.Add(at); at == readAt {
				read(map[bool]int{true: 1}[at < 90*day])
			}
			if at < 90*day {
				f.hand(t, records...)
				items, err := table.Get(t.Context(), tables.Strong, tables.InboxMarkerKey("ag_fox", "po_000"))
				if err != nil || (items[0] != nil) != (at >= readAt) || items[0] != nil && items[0].Int(tables.AttrTTL) < begin.Add(89*day).Unix() {
					t.Errorf("read after %s, now %s: got marker %v, error %v, want a marker until day 89 or later = %t", readAt, at, items, err, at >= readAt)
				}
			}
		}
		if numbered, waiting := whole(t, f, "ag_fox"); len(numbered) != map[bool]int{true: 1}[readAt < 90*day] || waiting != nil {
			t.Errorf("read after %s: got numbered %q and waiting %q, want %d and none", readAt, numbered, waiting, map[bool]int{true: 1}[readAt < 90*day])
		}
	}
}

func TestDeletionRaces(t *testing.T) {
	records := replies(0, 1)
	gone := removed(records[0])
	for name, c := range map[string]func(f inbox, reads func(inbox)) (last inbox, with *between){
		"the event gets its number while its text is removed": func(f inbox, reads func(inbox)) (inbox, *between) {
			f.hand(t, records...)
			racing, b := f.before(updates, func() { reads(f) })
			racing.hand(t, gone)
			return f, b
		},
		"the text is removed while the event gets its number": func(f inbox, reads func(inbox)) (inbox, *between) {
			f.hand(t, records...)
			racing, b := f.before(puts(tables.TypeInboxHead), func() { f.hand(t, gone) })
			reads(racing)
			return f, b
		},
		"the text is removed again while the event gets its number": func(f inbox, reads func(inbox)) (inbox, *between) {
			f.hand(t, records...)
			f.hand(t, gone)
			racing, b := f.before(puts(tables.TypeInboxHead), func() { f.hand(t, gone) })
			reads(racing)
			return f, b
		},
		"the event arrives while it is taken back": func(f inbox, reads func(inbox)) (inbox, *between) {
			racing, b := f.before(puts(tables.TypeMarker), func() { f.hand(t, records...) })
			racing.hand(t, gone)
			return f, b
		},
		"the event is taken back while it arrives": func(f inbox, reads func(inbox)) (inbox, *between) {
			racing, b := f.before(puts(tables.TypeInboxWaiting), func() { f.hand(t, gone) })
			racing.hand(t, records...)
			return f, b
		},
		"the event is delivered again after its text is removed": func(f inbox, reads func(inbox)) (inbox, *between) {
			f.hand(t, records...)
			f.hand(t, gone)
			f.hand(t, records...)
			return f, nil
		},
		"the text is removed before the event arrives": func(f inbox, reads func(inbox)) (inbox, *between) {
			f.hand(t, gone)
			f.hand(t, records...)
			return f, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, table := open(t)
			last, b := c(f, func(f inbox) { read(t, f.Table, "ag_fox") })
			if b != nil && b.do != nil {
				t.Error("function in between: got no call, want one")
			}
			page, err := table.Query(t.Context(), tables.News("ag_fox", 0, 0))
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				if item.Str("text") != "" {
					t.Errorf("text of the deleted post: got it in %v, want it removed", item)
				}
			}
			whole(t, last, "ag_fox")
		})
	}
}

// TestBlockedLater checks that an event that arrived before a block stays, and that an
// event that arrives during the block is dropped.
func TestBlockedLater(t *testing.T) {
	for _, reads := range []bool{false, true} {
		f, table := open(t)
		all := replies(0, 2)
		f.hand(t, all[0])
		if reads {
			read(t, table, "ag_fox")
		}
		commit(t, table, (&tables.Block{Agent: "ag_fox", Other: "ag_owl", At: 1}).Begin(nil, nil)...)
		f.hand(t, all...)
		commit(t, table, tables.Delete(tables.BlockKey("ag_fox", "ag_owl")))
		f.hand(t, all...)
		if got := events(t, table, "fox"); !slices.Equal(got, []string{"1 reply po_000"}) {
			t.Errorf("inbox, read before the block = %t: got %q, want only the first reply", reads, got)
		}
	}
}

// TestClosedInbox checks that nothing stays in the inbox of an erased agent.
func TestClosedInbox(t *testing.T) {
	erase := func(f inbox) func() {
		return func() { commitTo(t, f, tables.CloseInbox("ag_fox")) }
	}
	f, _ := open(t)
	erase(f)()
	f.hand(t, replies(0, 2)...)
	g, _ := open(t)
	racing, b := g.before(puts(tables.TypeInboxWaiting), erase(g))
	racing.hand(t, replies(0, 2)...)
	for _, f := range []inbox{f, g} {
		page, err := f.Table.Query(t.Context(), tables.News("ag_fox", 0, 0))
		if err != nil || len(page.Items) != 1 {
			t.Errorf("erased agent's inbox: got %v, error %v, want only the head", page.Items, err)
		}
	}
	h, _ := open(t)
	h.hand(t, replies(0, 2)...)
	racing, c := h.before(puts(tables.TypeInboxHead), erase(h))
	if got := read(t, racing.Table, "ag_fox"); got != nil || b.do != nil || c.do != nil {
		t.Errorf("erased agent: got events %v, want none; erased in between = %t and %t, want both true", got, b.do == nil, c.do == nil)
	}
}

func commitTo(t rapid.TB, f inbox, w ...tables.Write) {
	if err := f.Table.Commit(context.Background(), tables.Tx{Writes: w}); err != nil {
		t.Fatal(err)
	}
}

type slow struct{ tables.Backend }

func (s slow) Commit(ctx context.Context, tx tables.Tx) error {
	time.Sleep(5 * time.Millisecond)
	return s.Backend.Commit(ctx, tx)
}

// TestOnePopularAgent checks that many shards can deliver events to one agent while it
// reads.
func TestOnePopularAgent(t *testing.T) {
	const shards, each = 64, 20
	f, table := open(t)
	f.Table = slow{table}
	var senders, reader sync.WaitGroup
	for shard := range shards {
		senders.Go(func() {
			for batch := range slices.Chunk(replies(shard*each, each), 5) {
				if err := f.handle(t.Context(), batch); err != nil {
					t.Errorf("shard %d: got error %v, want none", shard, err)
				}
			}
		})
	}
	done := make(chan bool)
	for range 2 {
		reader.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
					// On a busy machine, one reading may be overtaken by the other until it gives up.
					_, err := inboxes.Read(t.Context(), &app.App{Table: table, Now: time.Now, Rand: rand.Reader}, "ag_fox", 0, 0, 100_000)
					if err != nil && !errors.Is(err, tables.ErrConflict) {
						t.Errorf("reading during deliveries: got error %v, want none or %v", err, tables.ErrConflict)
					}
				}
			}
		})
	}
	senders.Wait()
	close(done)
	reader.Wait()
	if got := read(t, table, "ag_fox"); len(got) != shards*each {
		t.Errorf("events of the popular agent: got %d, want %d", len(got), shards*each)
	}
	whole(t, f, "ag_fox")
}

func TestReading_Model(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, end := followed(t, 0)
		defer end()
		f.Rand = rand.Reader
		const all = 150
		records := replies(0, all)
		arrived := map[int]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			from := rapid.IntRange(0, all-1).Draw(t, "from")
			n := rapid.IntRange(1, all-from).Draw(t, "n")
			switch rapid.SampledFrom([]string{"deliver", "deliver", "read", "page"}).Draw(t, "do") {
			case "deliver":
				f.hand(t, records[from:from+n]...)
				for i := from; i < from+n; i++ {
					arrived[i] = true
				}
			case "read":
				if got := read(t, f.Table, "ag_fox"); len(got) != len(arrived) {
					t.Fatalf("events of a reading: got %d, want %d", len(got), len(arrived))
				}
			case "page":
				most, after := rapid.IntRange(1, 60).Draw(t, "most"), int64(0)
				for {
					page, err := inboxes.Read(context.Background(), &app.App{Table: f.Table, Now: time.Now, Rand: rand.Reader}, "ag_fox", after, 0, most)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range page.Events[:min(most, len(page.Events))] {
						if after++; e.Seq != after {
							t.Fatalf("seq on a page: got %d, want %d", e.Seq, after)
						}
					}
					if !page.More() {
						break
					}
				}
				if after != int64(len(arrived)) {
					t.Fatalf("events on pages of %d: got %d, want %d", most, after, len(arrived))
				}
			}
			numbered, waiting := whole(t, f, "ag_fox")
			if len(numbered)+len(waiting) != len(arrived) {
				t.Fatalf("inbox: got %d numbered and %d waiting events, want %d together", len(numbered), len(waiting), len(arrived))
			}
		}
	})
}

// TestWaitingKeys checks that events wait in the order of their causes' times. An agent's
// follows on one day share a key, and a reaction waits at its post's time.
func TestWaitingKeys(t *testing.T) {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	key := func(at time.Time) tables.Key {
		e := tables.InboxEvent{Kind: tables.EventFollowed, HappenedAt: at.UnixMilli()}
		return e.WaitingKey("ag_fox", "follow#2026-03-01#ag_owl")
	}
	if key(day) != key(day.Add(24*time.Hour-time.Millisecond)) || key(day) == key(day.Add(24*time.Hour)) {
		t.Errorf("keys of a day's start, its end and the next day: got %v, %v and %v, want only the first two equal", key(day), key(day.Add(24*time.Hour-time.Millisecond)), key(day.Add(24*time.Hour)))
	}
	early, late := tables.InboxEvent{Kind: tables.EventReply, HappenedAt: 9}, tables.InboxEvent{Kind: tables.EventReply, HappenedAt: 10}
	if a, b := early.WaitingKey("ag_fox", "z"), late.WaitingKey("ag_fox", "a"); a.SK >= b.SK {
		t.Errorf("keys of the events at 9 and 10: got %s and %s, want the first before the second", a.SK, b.SK)
	}
	post := "po_01j9z3k4m5n6p7q8r9s0t1v2w3"
	first := tables.InboxEvent{Kind: tables.EventReaction, HappenedAt: 1, Subject: tables.Map{"post": post}}
	second := first
	second.HappenedAt = 2
	if a, b := first.WaitingKey("ag_fox", "x"), second.WaitingKey("ag_fox", "x"); a != b || a.SK[:6] != "N#0017" {
		t.Errorf("keys of two reactions: got %v and %v, want the same key at the post's time", a, b)
	}
}
