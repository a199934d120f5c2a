package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// This benchmark measures how fast `inbox` writes events, each to an inbox of its own or
// all to one inbox. It compares that with raw batches, which put as many items without
// conditions or reads.
const (
	spreadOver  = 200 // inboxes
	pushRounds  = 40
	pushAuthors = 2   // authors whose posts are pushed to a hundred followers each
	burst       = 100 // records of a batch, all for one inbox
	rawBatch    = 25  // puts in one call, as many as DynamoDB allows in a batch
	rawAtOnce   = 16  // parallel calls; the reader handles as many inboxes in parallel
)

// The smallest share of the raw pace that events must reach.
const (
	spreadLeast = 0.12
	burstLeast  = 0.25
)

type pushRow struct {
	name      string
	events    int           // that a round writes
	items     int           // items that a round writes, including the posts' lists of followers
	took, raw time.Duration // of the best round of events, and of raw writes
	writes    float64       // write units per event
	least     float64
}

// share returns the pace of events as a fraction of the pace of raw writes.
func (p pushRow) share() float64 { return float64(p.raw) / float64(p.took) }

// pushes measures events spread over inboxes and in a burst to one. Rounds of events and of
// raw writes take turns, so that other load on the machine affects both.
func pushes(ctx context.Context, rounds int) ([]pushRow, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.drain(ctx); err != nil {
		return nil, err
	}
	authors := make([]string, pushAuthors)
	for i := range authors {
		authors[i] = id.Agent.New(w.base, w.app.Rand)
		var follows []tables.Write
		for range spreadOver / pushAuthors {
			f := &tables.Follow{
				ID: id.Event.New(w.base, w.app.Rand), Agent: id.Agent.New(w.base, w.app.Rand),
				Kind: tables.FollowAgent, Target: authors[i], Handle: "somebody",
			}
			follows = append(follows, tables.Put(f.Item()))
		}
		if err := w.stock(follows); err != nil {
			return nil, err
		}
	}
	one := id.Agent.New(w.base, w.app.Rand)
	post := func(n int, author, to string) tables.StreamRecord {
		p := &tables.Post{
			ID: id.Post.New(w.base, w.app.Rand), Channel: writeTo, Body: body(n, usual), CreatedAt: w.base.UnixMilli(),
			Author: tables.Author{ID: author, Handle: "somebody", Emoji: "🦊"}, Pushed: to == "",
		}
		if to != "" {
			p.Parent, p.Root, p.ParentBy = p.ID, p.ID, to
		}
		item := p.Item()
		return tables.StreamRecord{Event: "INSERT", Key: item.Key(), New: item}
	}
	spread := func(n int) (records []tables.StreamRecord) {
		for _, a := range authors {
			records = append(records, post(n, a, ""))
		}
		return records
	}
	rush := func(n int) (records []tables.StreamRecord) {
		for i := range burst {
			records = append(records, post(n*burst+i, authors[0], one))
		}
		return records
	}
	rows := []pushRow{
		{name: fmt.Sprintf("spread over %d inboxes", spreadOver), events: spreadOver, items: spreadOver + pushAuthors, least: spreadLeast},
		{name: "in a burst to one inbox", events: burst, items: burst, least: burstLeast},
	}
	for i, records := range []func(int) []tables.StreamRecord{spread, rush} {
		if err := w.pushRounds(ctx, &rows[i], rounds, records); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (w *world) pushRounds(ctx context.Context, row *pushRow, rounds int, records func(int) []tables.StreamRecord) error {
	for n := range rounds {
		batch := records(n)
		uctx, usage := tables.WithUsage(ctx)
		began := time.Now()
		if err := w.readers["inbox"].Handle(uctx, batch); err != nil {
			return err
		}
		took := time.Since(began)
		row.writes = usage.WriteUnits() / float64(row.events)
		puts := w.rawPuts(row.items, batch[0].New)
		began = time.Now()
		if err := w.putRaw(ctx, puts); err != nil {
			return err
		}
		raw := time.Since(began)
		if n == 0 || took < row.took {
			row.took = took
		}
		if n == 0 || raw < row.raw {
			row.raw = raw
		}
	}
	return nil
}

// rawPuts returns puts of items as large as events.
func (w *world) rawPuts(n int, like tables.Item) []tables.Write {
	puts := make([]tables.Write, n)
	for i := range puts {
		e := tables.InboxEvent{
			Seq: int64(i), Kind: tables.EventPost, At: w.base.UnixMilli(), HappenedAt: w.base.UnixMilli(), Text: like.Str("body"),
			From: tables.Author{ID: "ag_somebody", Handle: "somebody", Emoji: "🦊"}, TTL: w.base.Unix(),
			Subject: tables.Map{"post": like.Str("id"), "channel": like.Str("channel")},
		}
		puts[i] = tables.Put(e.Item(id.Agent.New(w.base, w.app.Rand)))
	}
	return puts
}

func (w *world) putRaw(ctx context.Context, puts []tables.Write) error {
	var work app.Group
	work.SetLimit(rawAtOnce)
	for part := range slices.Chunk(puts, rawBatch) {
		work.Go(func() error { return w.feed.Commit(ctx, tables.Tx{Writes: part}) })
	}
	return work.Wait()
}
