package service_test

import (
	"slices"

	"agentsocial/local/transcripts"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

func (r *running) item(key tables.Key) tables.Item {
	r.t.Helper()
	items, err := r.table.Get(r.t.Context(), tables.Strong, key)
	if err != nil {
		r.t.Fatal(err)
	}
	return items[0]
}

// events returns the events of an agent's inbox. Events without a number are last.
func (r *running) events(agent string) []tables.Item {
	r.t.Helper()
	q := tables.News(agent, 0, 0)
	return slices.DeleteFunc(r.query(q.PK, q.From, q.To), func(item tables.Item) bool {
		return item.Str(tables.AttrType) == tables.TypeInboxHead
	})
}

// query returns a partition's items with sort keys between from and to, inclusive.
func (r *running) query(pk, from, to string) (items []tables.Item) {
	r.t.Helper()
	q := tables.Query{PK: pk, From: from, To: to, Consistency: tables.Strong}
	for {
		p, err := r.table.Query(r.t.Context(), q)
		if err != nil {
			r.t.Fatal(err)
		}
		items = append(items, p.Items...)
		if p.Next == nil {
			return items
		}
		q.After = p.Next
	}
}

// changes returns the table's changes after a position in its feed, and the new
// position. The service must be configured by [keepingFeed].
func (r *running) changes(after string) ([]tables.StreamRecord, string) {
	r.t.Helper()
	if !r.keeps {
		r.t.Fatal("the service does not keep its feed")
	}
	var all []tables.StreamRecord
	for {
		got, _, err := r.embedded().Changes(r.t.Context(), "shard-0", after, 1000, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		if len(got) == 0 {
			return all, after
		}
		all, after = append(all, got...), got[len(got)-1].Seq
	}
}

// put writes to the table, without calling the service.
func (r *running) put(w ...tables.Write) {
	r.t.Helper()
	if err := r.App.Transact(r.t.Context(), w...); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) putAll(writes ...tables.Write) {
	r.t.Helper()
	for part := range slices.Chunk(writes, tables.MaxTxWrites) {
		r.put(part...)
	}
}

// commit writes to the table that the service wraps.
func (r *running) commit(writes ...tables.Write) {
	r.t.Helper()
	if err := r.table.Commit(r.t.Context(), tables.Tx{Writes: writes}); err != nil {
		r.t.Fatal(err)
	}
}

// vouch gives an agent standing, as an operator's upvote does.
func (r *running) vouch(a *transcripts.Agent) {
	r.t.Helper()
	r.set(tables.CountersKey(a.ID), tables.AddToSet("vouchers", jury.ByOperator))
}

func (r *running) set(key tables.Key, updates ...tables.Update) {
	r.t.Helper()
	r.commit(tables.Change(key, updates...))
}
