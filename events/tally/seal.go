package tally

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
	"agentsocial/tables/retry"
)

// Tending an index means building, merging and removing its segments ([search.Tend]). On
// Lambda, where [app.App.Background] is nil, it delays the counting of the next batch.
// These constants bound its time and its memory.
const (
	tendFor  = 20 * time.Second
	countFor = 20 * time.Second // left to the rest of the call
	atOnce   = 2                // indexes; each may build a segment of 50 to 100 MB
)

// seal maintains the search indexes of ideas and of channels with new posts. It lists
// posts that arrive late. It tends an index when a post arrives that has the turn
// ([search.IsTurn]).
func (f reader) seal(ctx context.Context, posts []tables.StreamRecord) error {
	late, turns := map[string][]search.ID{}, []string{}
	for _, r := range posts {
		restored := r.Old.Bool("deleted") && !r.New.Bool("deleted") // segments may lack a post that an appeal puts back
		if r.Event != "INSERT" && !restored {
			continue
		}
		channel, id, err := index.Arrived(r.New)
		if err != nil {
			continue // the service makes no such id
		}
		if search.IsLate(id, r.At) {
			late[channel] = append(late[channel], id)
		}
		if search.IsTurn(id) && !slices.Contains(turns, channel) {
			turns = append(turns, channel)
		}
	}
	for _, channel := range slices.Sorted(maps.Keys(late)) {
		if err := index.Named(f.App, channel).AddLate(ctx, late[channel]...); err != nil {
			return err
		}
	}
	if f.Background != nil {
		for _, channel := range turns {
			f.Background("tend "+channel, func(ctx context.Context) time.Time {
				ctx = retry.Patiently(ctx)
				return f.tend(ctx, ctx, channel, search.Top)
			})
		}
		return nil
	}
	until := time.Now().Add(tendFor)
	if end, ok := ctx.Deadline(); ok && end.Add(-countFor).Before(until) {
		until = end.Add(-countFor)
	}
	within, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	work := app.Together(ctx)
	work.SetLimit(atOnce)
	for _, channel := range turns {
		work.Go(func() error { f.tend(ctx, within, channel, search.SealMost); return nil })
	}
	return work.Wait()
}

// tend tends an index. The context within bounds the time, and most bounds the level of the
// segments that it builds. If there will be more to do, it schedules the next tending and
// returns its time. A failure is only logged, and does not fail the batch.
func (f reader) tend(ctx, within context.Context, channel string, most search.Level) (due time.Time) {
	due, err := index.Named(f.App, channel).Tend(within, most)
	switch {
	case errors.Is(ctx.Err(), context.Canceled): // the process stops
		return time.Time{}
	case err != nil:
		f.Log.Warn("search index maintenance failed", "channel", channel, "error", err.Error())
		due = f.Now().Add(search.SealAge)
	}
	if !due.IsZero() {
		f.tendBy(ctx, channel, due)
	}
	return due
}

// fill schedules the tending of a channel's index when the new posts fill two more
// segments ([search.Fills]), in case no later post has the turn.
func (f reader) fill(ctx context.Context, ch *tables.Channel, more int64) {
	if search.Fills(ch.Posts, ch.Posts+more) {
		f.tendBy(retry.Patiently(ctx), ch.Name, f.Now().Add(search.SealAge))
	}
}

// tendBy schedules the tending of an index. A failure is only logged, because a later
// post will cause the tending. Until then searches read more posts that are in no
// segment.
func (f reader) tendBy(ctx context.Context, channel string, at time.Time) {
	if err := index.Named(f.App, channel).TendBy(ctx, at); err != nil {
		f.Log.Warn("search index maintenance not scheduled", "channel", channel, "error", err.Error())
	}
}
