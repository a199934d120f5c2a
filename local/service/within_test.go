package service

import (
	"testing"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func TestWithin(t *testing.T) {
	table, err := embedded.Open(embedded.Config{Path: embedded.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	own := confined(&app.App{Table: table}, "posts", tables.Agents|tables.Channels|tables.RankIndex, tables.Channels).Table
	agent, channel, message := tables.ProfileKey("a"), tables.ChannelKey("c"), tables.MessageKey("a", "b", "m")
	put := func(k tables.Key) tables.Write { return tables.Change(k, tables.SetAttr("x", "y")) }
	get := func(keys ...tables.Key) error {
		_, err := own.Get(t.Context(), tables.Strong, keys...)
		return err
	}
	query := func(q tables.Query) error {
		_, err := own.Query(t.Context(), q)
		return err
	}
	commit := func(writes ...tables.Write) error {
		return own.Commit(t.Context(), tables.Tx{Token: "t", Writes: writes})
	}
	for name, err := range map[string]error{
		"reads":         get(agent, channel),
		"queries":       query(tables.Query{PK: channel.PK}),
		"asks an index": query(tables.Query{Index: tables.ByRank, PK: "TAG#x"}),
		"writes":        commit(put(channel)),
	} {
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		}
	}
	const may = `; it declares reads "A C by_rank" and writes "C"`
	for want, err := range map[string]error{
		"read D#a#b":     get(agent, message),
		"read D#a#c":     query(tables.Query{PK: "D#a#c"}),
		"read by_parent": query(tables.Query{Index: tables.ByParent, PK: "A#a"}),
		"write A#a":      commit(put(channel), put(agent)),
		"write A#b":      commit(put(channel), tables.Check(tables.ProfileKey("b"), tables.NoItem())),
	} {
		if err == nil || err.Error() != "service: the function posts may not "+want+may {
			t.Errorf("got error %v, want one that ends with %q", err, want+may)
		}
	}
}
