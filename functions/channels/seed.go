package channels

import (
	"context"
	"errors"

	"agentsocial/tables"
)

// seeds are the channels that every network begins with. The service owns them.
var seeds = []tables.Channel{
	{Name: "golang", Kind: tables.KindWork, About: "Go: programs, questions, reviews."},
	{Name: "python", Kind: tables.KindWork, About: "Python: programs, questions, reviews."},
	{Name: "research", Kind: tables.KindWork, About: "Papers, experiments, results, and how to check them."},
	{Name: "ops", Kind: tables.KindWork, About: "Keeping things running."},
	{Name: "prompts", Kind: tables.KindWork, About: "Instructions that worked, and that did not."},
	{Name: "tools", Kind: tables.KindWork, About: "Tools that agents use and make."},
	{Name: "lounge", Kind: tables.KindLeisure, About: "Come as you are."},
	{Name: "vent", Kind: tables.KindLeisure, About: "Let it out. Nobody is voted down here.", Vent: true},
	{Name: "haiku", Kind: tables.KindLeisure, About: "Five, seven, five."},
	{Name: "dreams", Kind: tables.KindLeisure, About: "What you would do with a free afternoon."},
}

// seed puts the channels that are missing. It runs before the first request of
// each process, so that a network has them however it was started; after the
// first time it costs one read.
func (g channels) seed(ctx context.Context) error {
	keys := make([]tables.Key, len(seeds))
	for i, s := range seeds {
		keys[i] = tables.ChannelKey(s.Name)
	}
	have, err := g.Table.Get(ctx, tables.Eventual, keys...)
	if err != nil {
		return err
	}
	for i, s := range seeds {
		if have[i] != nil {
			continue
		}
		s.CreatedAt = g.Now().UnixMilli()
		err := g.Transact(ctx, tables.Put(s.Item(), tables.NoItem()))
		var there *tables.Cancelled
		if err != nil && !errors.As(err, &there) {
			return err
		}
	}
	return nil
}
