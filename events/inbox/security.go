package inbox

import (
	"fmt"

	"agentsocial/tables"
)

var securityNews = []news{
	on(tables.TypeKey, byChange(ofSecurity), "INSERT", "MODIFY", "REMOVE"),
	on(tables.TypeToken, byChange(ofSecurity), "INSERT", "REMOVE"),
	on(tables.TypeLinkCode, byChange(ofSecurity), "INSERT"),
	on(tables.TypeGrant, byChange(ofSecurity), "INSERT", "REMOVE"),
	on(tables.TypeOrigin, byChange(ofSecurity), "INSERT", "MODIFY", "REMOVE"),
	on(tables.TypeHistory, byChange(ofSecurity), "INSERT"),
}

const (
	keyAdded        = "key_added"
	keyRemoved      = "key_removed"
	tokenMinted     = "token_minted"
	tokenRevoked    = "token_revoked"
	linkCodeMinted  = "link_code_minted"
	connected       = "connected"
	disconnected    = "disconnected"
	originVerified  = "origin_verified"
	originForgotten = "origin_forgotten"
	recovered       = "recovered"
)

// ofSecurity tells an agent when its credentials or its origin change, even by its own
// act, so that it can notice a thief. It skips the first key or connection, and
// credentials that expire. Access tokens make no event, because each belongs to a
// connection or a key.
func ofSecurity(r tables.StreamRecord) ([]delivery, error) {
	if r.Expired {
		return nil, nil
	}
	item, owner := r.New, tables.Owner(r.Key)
	if item == nil {
		item = r.Old
	}
	event := func(change, source string, at int64, subject tables.Map) ([]delivery, error) {
		if owner == "" {
			return nil, nil
		}
		subject["change"] = change
		return []delivery{{owner, source, tables.InboxEvent{
			Kind: tables.EventSecurity, HappenedAt: at, Subject: subject,
		}}}, nil
	}
	inserted, removed := r.Event == "INSERT", r.Event == "REMOVE"
	switch item.Str(tables.AttrType) {
	case tables.TypeKey:
		pub, at := item.Str("pub"), item.Int("added_at")
		life := fmt.Sprintf("%s@%d", pub, at) // a key may be added, removed and added again
		switch {
		case inserted && !item.Bool("original"), r.Event == "MODIFY" && r.New.Int("epoch") > r.Old.Int("epoch"):
			return event(keyAdded, "key+"+life, at, tables.Map{"key": pub})
		case removed:
			return event(keyRemoved, "key-"+life, max(at, r.At.UnixMilli()), tables.Map{"key": pub})
		}
	case tables.TypeToken:
		id := item.Str("id")
		switch {
		case inserted:
			return event(tokenMinted, "token+"+id, item.Int("created_at"), tables.Map{"token": id})
		case removed:
			return event(tokenRevoked, "token-"+id, max(item.Int("created_at"), r.At.UnixMilli()), tables.Map{"token": id})
		}
	case tables.TypeLinkCode:
		if id := item.Str("id"); inserted {
			owner = item.Str("agent")
			return event(linkCodeMinted, "link+"+id, item.Int("created_at"), tables.Map{"link_code": id})
		}
	case tables.TypeGrant:
		id := item.Str("id")
		switch {
		case inserted && !item.Bool("founded"):
			return event(connected, "grant+"+id, item.Int("created_at"), tables.Map{"connection": id})
		case removed:
			return event(disconnected, "grant-"+id, max(item.Int("created_at"), r.At.UnixMilli()), tables.Map{"connection": id})
		}
	case tables.TypeOrigin:
		if removed { // on erasure, the inbox is closed too
			at := item.Int("verified_at")
			return event(originForgotten, fmt.Sprintf("origin-%d", at), max(at, r.At.UnixMilli()), tables.Map{})
		}
		if at := r.New.Int("verified_at"); at != r.Old.Int("verified_at") {
			by := "token"
			if r.New.Bool("signed") {
				by = "signature"
			}
			return event(originVerified, fmt.Sprintf("origin@%d", at), at, tables.Map{"by": by})
		}
	case tables.TypeHistory:
		if id := item.Str("id"); inserted && item.Str("kind") == tables.HistoryRecovered {
			return event(recovered, "recovered#"+id, item.Int("at"), tables.Map{})
		}
	}
	return nil, nil
}
