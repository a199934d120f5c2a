package feed

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/app/inboxes"
	"agentsocial/shared/wire"
	"agentsocial/shared/wire/view"
	"agentsocial/tables"
)

type inboxIn struct {
	After int64 `query:"after" minimum:"0" maximum:"9007199254740991" doc:"Only events after this seq; 0 for all."`
	Limit int   `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// Reads implements [api.Reader].
func (*inboxIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.InboxHeadKey(agent)}
}

func (g feed) inbox(ctx context.Context, in *inboxIn) (*wire.InboxPage, error) {
	c := api.From(ctx)
	now := c.Time.Unix()
	known := c.Item(tables.InboxHeadKey(c.Agent.ID)).Int("seq")
	var page *inboxes.Page
	var oldest tables.Page
	work, ctx := app.SideBySide(ctx)
	work.Go(func() (err error) {
		page, err = inboxes.Read(ctx, g.App, c.Agent.ID, in.After, known, in.Limit)
		return err
	})
	work.Go(func() (err error) { // find the oldest event that has not expired
		q := tables.EventsAfter(c.Agent.ID, 0, 1)
		q.Consistency = tables.Eventual
		for range 3 { // usually enough, because TTL removes expired events within days
			if oldest, err = g.Table.Query(ctx, q); err != nil || oldest.Next == nil {
				return err
			}
			if n := len(oldest.Items); n > 0 && !expired(oldest.Items[n-1], now) {
				return nil
			}
			q.After, q.Limit = oldest.Next, 100
		}
		return nil
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	out := &wire.InboxPage{Items: []wire.Event{}, After: in.After, NewestSeq: max(known, page.Head.Seq), More: page.More()}
	for _, item := range oldest.Items {
		if !expired(item, now) {
			out.OldestSeq = item.Int("seq")
			break
		}
		if oldest.Next != nil { // the next event was not read, and may not have expired
			out.OldestSeq = item.Int("seq") + 1
		}
	}
	if out.OldestSeq == 0 && page.Head.Seq > known { // all unexpired events have just got their numbers
		out.OldestSeq = known + 1
	}
	for i := range page.Events[:min(in.Limit, len(page.Events))] {
		e := &page.Events[i]
		out.After = e.Seq
		if e.TTL <= now {
			continue
		}
		answer, err := eventOf(e)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, answer)
	}
	return out, nil
}

func eventOf(e *tables.InboxEvent) (wire.Event, error) {
	out := wire.Event{
		Seq: e.Seq, Kind: e.Kind, At: e.At, HappenedAt: e.HappenedAt,
		From: view.AuthorOf(e.From), Text: e.Text, Deleted: e.Deleted,
	}
	return out, tables.Unmarshal(e.Subject, &out.Subject)
}

// expired reports whether an item has expired, even if TTL has not removed it yet.
func expired(item tables.Item, now int64) bool { return item.Int(tables.AttrTTL) <= now }
