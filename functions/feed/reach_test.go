package feed

import (
	"context"
	"testing"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// countedGets is a table that notes how many keys each read asks for.
type countedGets struct {
	tables.Backend
	keys []int
}

func (b *countedGets) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	b.keys = append(b.keys, len(keys))
	return b.Backend.Get(ctx, c, keys...)
}

// No event has a seq below 1, so a short inbox needs fewer keys.
func TestProbe_OneRead(t *testing.T) {
	table, err := embedded.Open(embedded.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	for oldest, want := range map[int64]int{1 << 40: tables.MaxGetKeys, eventsMost + 1: 1, eventsMost: 0} {
		read := &countedGets{Backend: table}
		m := &missed{feed: feed{&app.App{Table: read}}, agent: "ag_x", since: 1, circle: &circle{}}
		for range eventsMost + 1 {
			m.newest = append(m.newest, tables.InboxEvent{Seq: oldest, At: 1})
		}
		if err := m.probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(read.keys) > 1 || len(read.keys) == 1 && read.keys[0] != want || len(read.keys) == 0 && want > 0 {
			t.Errorf("newest page ends with seq %d: got reads of %v keys, want one read of %d keys, or no read if 0", oldest, read.keys, want)
		}
	}
}
