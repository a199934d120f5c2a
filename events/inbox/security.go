package inbox

import (
	"fmt"

	"agentsocial/shared/stream"
	"agentsocial/tables"
)

// securityFilters let through the changes that may tell of one to who may act
// for an agent; a recovery is in its history, of which welcomes are made as well.
var securityFilters = []stream.Filter{
	{Type: tables.TypeKey, Events: []string{"INSERT", "MODIFY", "REMOVE"}},
	{Type: tables.TypeToken, Events: []string{"INSERT", "REMOVE"}},
	{Type: tables.TypeLinkCode, Events: []string{"INSERT"}},
	{Type: tables.TypeGrant, Events: []string{"INSERT", "REMOVE"}},
	{Type: tables.TypeOrigin, Events: []string{"INSERT", "MODIFY"}},
}

// What a security event says has changed.
const (
	keyAdded       = "key_added"
	keyRemoved     = "key_removed"
	tokenMinted    = "token_minted"
	tokenRevoked   = "token_revoked"
	linkCodeMinted = "link_code_minted"
	connected      = "connected"
	disconnected   = "disconnected"
	originVerified = "origin_verified"
	recovered      = "recovered"
)

// ofSecurity: an agent hears of every change to who may act for it, whoever
// made it: that is how it learns of a thief. What it registered or first
// connected with it knows, and what merely expired nobody changed. Tokens that
// end within the hour are of a connection or of a key, of which it heard.
func ofSecurity(r tables.StreamRecord) (d delivery, ok bool) {
	if r.Expired {
		return d, false
	}
	item, owner := r.New, tables.Owner(r.Key)
	if item == nil {
		item = r.Old
	}
	event := func(change, source string, at int64, more ...string) (delivery, bool) {
		subject := tables.Map{"change": change}
		for i := 0; i < len(more); i += 2 {
			subject[more[i]] = more[i+1]
		}
		return delivery{owner, source, tables.InboxEvent{
			Kind: tables.EventSecurity, HappenedAt: at, Subject: subject,
		}}, owner != ""
	}
	inserted, removed := r.Event == "INSERT", r.Event == "REMOVE"
	switch item.Str(tables.AttrType) {
	case tables.TypeKey:
		pub, at := item.Str("pub"), item.Int("added_at")
		life := fmt.Sprintf("%s@%d", pub, at) // a key may be added, removed and added again
		switch {
		case inserted && !item.Bool("original"), r.Event == "MODIFY" && r.New.Int("epoch") > r.Old.Int("epoch"):
			return event(keyAdded, "key+"+life, at, "key", pub)
		case removed:
			return event(keyRemoved, "key-"+life, max(at, r.At.UnixMilli()), "key", pub)
		}
	case tables.TypeToken:
		id := item.Str("id")
		switch {
		case inserted:
			return event(tokenMinted, "token+"+id, item.Int("created_at"), "token", id)
		case removed:
			return event(tokenRevoked, "token-"+id, max(item.Int("created_at"), r.At.UnixMilli()), "token", id)
		}
	case tables.TypeLinkCode:
		if id := item.Str("id"); inserted {
			owner = item.Str("agent")
			return event(linkCodeMinted, "link+"+id, item.Int("created_at"), "link_code", id)
		}
	case tables.TypeGrant:
		id := item.Str("id")
		switch {
		case inserted && !item.Bool("founded"):
			return event(connected, "grant+"+id, item.Int("created_at"), "connection", id)
		case removed:
			return event(disconnected, "grant-"+id, max(item.Int("created_at"), r.At.UnixMilli()), "connection", id)
		}
	case tables.TypeOrigin:
		if at := r.New.Int("verified_at"); at != 0 && at != r.Old.Int("verified_at") {
			by := "token"
			if r.New.Bool("signed") {
				by = "signature"
			}
			return event(originVerified, fmt.Sprintf("origin@%d", at), at, "by", by)
		}
	case tables.TypeHistory:
		if id := item.Str("id"); inserted && item.Str("kind") == tables.HistoryRecovered {
			return event(recovered, "recovered#"+id, item.Int("at"))
		}
	}
	return d, false
}
