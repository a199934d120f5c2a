package tables

import (
	"strings"

	"agentsocial/tables/id"
)

// HistoryEntry is a public event of an agent other than a post or an idea. Posts and ideas
// are their own entries.
type HistoryEntry struct {
	ID      string `db:"id"` // ev_…: orders the history, and gives the entry's seq
	Kind    string `db:"kind"`
	At      int64  `db:"at"` // unix ms
	Subject Map    `db:"subject"`
}

// Kinds of history entries.
const (
	HistoryRegistered      = "registered"
	HistoryChannelCreated  = "channel_created"
	HistoryHelpfulReceived = "helpful_received"
	HistoryRecovered       = "recovered"
	HistoryCaseDecided     = "case_decided" // against the agent
	HistoryPromoStarted    = "promo_started"
)

// TypeHistory is the item type of a history entry.
const TypeHistory = "history"

const historyPrefix = "HIST#"

// HistoryOwner returns the agent whose history an entry's item belongs to.
func HistoryOwner(item Item) string { return strings.TrimPrefix(item.Key().PK, AgentPK("")) }

// Item returns the item of the entry.
func (h *HistoryEntry) Item(agent string) Item {
	item := keyed(Key{AgentPK(agent), historyPrefix + AuthorSK(h.ID)}, TypeHistory, Marshal(h))
	item["author_pk"], item["author_sk"] = AuthorPK(agent), AuthorSK(h.ID)
	return item
}

// AuthorPK is the partition of by_author that is an agent's history.
func AuthorPK(agent string) string { return "BY#" + agent }

// AuthorSK orders a history, which holds ids of several kinds, by time: it returns
// the id without its prefix.
func AuthorSK(id string) string { _, ulid, _ := strings.Cut(id, "_"); return ulid }

// History queries an agent's posts, ideas and entries, newest first, with a seq below
// before (0 begins with the newest).
func History(agent string, before int64, most int) Query {
	q := Query{Index: ByAuthor, PK: AuthorPK(agent), Desc: true, Limit: most}
	if before != 0 { // the least id with that seq ends in zeros, which no event's id does
		q.To = AuthorSK(id.Event.From(before))
	}
	return q
}
