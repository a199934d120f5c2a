package karma

import (
	"context"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/index"
	"agentsocial/shared/search"
	"agentsocial/tables"
)

// tendFor bounds tending the indexes of one batch: what comes behind it waits, and
// the function's time is not endless.
const tendFor = 20 * time.Second

// seal keeps the search index of channels that have new posts: it lists those
// that came late, and tends the index where it is a post's turn.
func (f karma) seal(ctx context.Context, posts []tables.StreamRecord) error {
	late, turns := map[string][]search.ID{}, []string{}
	for _, r := range posts {
		if r.Event != "INSERT" {
			continue
		}
		id, err := index.IDOf(r.New.Str("id"))
		if err != nil {
			continue // nobody makes such
		}
		channel := r.New.Str("channel")
		if search.IsLate(id, r.At) {
			late[channel] = append(late[channel], id)
		}
		if search.IsTurn(id) && !slices.Contains(turns, channel) {
			turns = append(turns, channel)
		}
	}
	for channel, ids := range late {
		if err := index.Of(f.App, channel).AddLate(ctx, ids...); err != nil {
			return err
		}
	}
	within, cancel := context.WithTimeout(ctx, tendFor)
	defer cancel()
	var work app.Group
	work.SetLimit(sideBySide)
	for _, channel := range turns {
		work.Go(func() error { return f.tend(ctx, within, channel) })
	}
	return work.Wait()
}

// tend tends an index while within lasts. If that fails, as if there is more to
// do later, the schedule does it: what was counted already need not come again
// for that.
func (f karma) tend(ctx, within context.Context, channel string) error {
	due, err := index.Of(f.App, channel).Tend(within)
	if err != nil {
		f.Log.Warn("search index not tended", "channel", channel, "error", err.Error())
		due = f.Now().Add(search.SealAge)
	}
	if due.IsZero() {
		return nil
	}
	return index.Of(f.App, channel).TendBy(ctx, due)
}

// fill has a channel's index tended when its newest posts, of which there are so
// many more now, are old enough: it may fall silent before a turn comes.
func (f karma) fill(ctx context.Context, ch *tables.Channel, more int64) error {
	if !search.Fills(ch.Posts, ch.Posts+more) {
		return nil
	}
	return index.Of(f.App, ch.Name).TendBy(ctx, f.Now().Add(search.SealAge))
}
