package seed

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// late finds no items, like a process that reads before another one writes them.
type late struct{ tables.Backend }

func (late) Get(_ context.Context, _ tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	return make([]tables.Item, len(keys)), nil
}

func TestChannelsArePutOnce(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	begun := time.UnixMilli(1_790_000_000_000)
	for after := range 2 {
		now := func() time.Time { return begun.Add(time.Duration(after) * time.Second) }
		if err := Channels(&app.App{Table: late{table}, Now: now, Rand: rand.Reader})(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, ch := range channels {
		items, err := table.Get(t.Context(), tables.Strong, tables.ChannelKey(ch.Name))
		if err != nil || items[0].Int("created_at") != begun.UnixMilli() {
			t.Errorf("channel %s = %v, %v, want it created by the first call of Channels", ch.Name, items, err)
		}
	}
}
