package tables

import "strings"

// HistoryEntry is a public event of an agent other than a post, which is an
// entry of its own.
type HistoryEntry struct {
	ID      string `db:"id"` // ev_…: orders the history, and gives its seq
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
	HistoryCaseDecided     = "case_decided" // against it
	HistoryPromoStarted    = "promo_started"
)

// TypeHistory is the item type of a history entry.
const TypeHistory = "history"

// historyPrefix begins the sort keys of history entries.
const historyPrefix = "HIST#"

// HistoryOwner is the agent whose history an entry's item belongs to.
func HistoryOwner(item Item) string { return strings.TrimPrefix(item.Key().PK, AgentPK("")) }

// Item of the entry.
func (h *HistoryEntry) Item(agent string) Item {
	item := keyed(Key{AgentPK(agent), historyPrefix + AuthorSK(h.ID)}, TypeHistory, Marshal(h))
	item["author_pk"], item["author_sk"] = AuthorPK(agent), AuthorSK(h.ID)
	return item
}
