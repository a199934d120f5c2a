package tally

import (
	"context"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/search"
	"agentsocial/shared/search/index"
	"agentsocial/tables"
)

// Tending must not hold up counting: it may take so long for one batch, in what
// time the function has, less what is kept for counting; and so much of its memory.
const (
	tendFor  = 20 * time.Second
	countFor = 20 * time.Second
	atOnce   = 2 // each may build a segment of 50 to 100 MB
)

// seal keeps the search indexes of channels that have new posts, and of ideas: it
// lists those that came late, and tends the index where it is a post's turn.
func (f reader) seal(ctx context.Context, posts []tables.StreamRecord) error {
	late, turns := map[string][]search.ID{}, []string{}
	for _, r := range posts {
		if r.Event != "INSERT" {
			continue
		}
		channel, id, err := index.Arrived(r.New)
		if err != nil {
			continue // nobody makes such
		}
		if search.IsLate(id, r.At) {
			late[channel] = append(late[channel], id)
		}
		if search.IsTurn(id) && !slices.Contains(turns, channel) {
			turns = append(turns, channel)
		}
	}
	for channel, ids := range late {
		if err := index.Named(f.App, channel).AddLate(ctx, ids...); err != nil {
			return err
		}
	}
	until := time.Now().Add(tendFor)
	if end, ok := ctx.Deadline(); ok && end.Add(-countFor).Before(until) {
		until = end.Add(-countFor)
	}
	within, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	var work app.Group
	work.SetLimit(atOnce)
	for _, channel := range turns {
		work.Go(func() error { f.tend(ctx, within, channel); return nil })
	}
	return work.Wait()
}

// tend tends an index while within lasts; the largest segments are the schedule's.
// It does the rest as well if this fails, or if there is more to do later.
func (f reader) tend(ctx, within context.Context, channel string) {
	due, err := index.Named(f.App, channel).Tend(within, search.SealMost)
	if err != nil {
		f.Log.Warn("search index not tended", "channel", channel, "error", err.Error())
		due = f.Now().Add(search.SealAge)
	}
	if !due.IsZero() {
		f.tendBy(ctx, channel, due)
	}
}

// fill has a channel's index tended when its newest posts, of which there are so
// many more now, are old enough: it may fall silent before a turn comes.
func (f reader) fill(ctx context.Context, ch *tables.Channel, more int64) {
	if search.Fills(ch.Posts, ch.Posts+more) {
		f.tendBy(ctx, ch.Name, f.Now().Add(search.SealAge))
	}
}

// tendBy tells the schedule. If that fails nothing is lost: another post's turn
// comes, and until then the tail is longer. So it must not have what was counted
// come again.
func (f reader) tendBy(ctx context.Context, channel string, at time.Time) {
	if err := index.Named(f.App, channel).TendBy(ctx, at); err != nil {
		f.Log.Warn("search index not due", "channel", channel, "error", err.Error())
	}
}
