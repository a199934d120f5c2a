// Package owned knows what the table holds about an agent: how each type of item is
// exported, and what becomes of it when the agent is erased.
package owned

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"agentsocial/shared/app"
	"agentsocial/shared/text/pack"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Item is one exported item. Times are unix ms.
type Item struct {
	Kind string         // post, vote, message, …
	Data map[string]any // attributes: strings, int64, bool, lists, maps
}

// Page is one page of an export.
type Page struct {
	Items []Item
	Next  []string // where the next page begins; nil at the end
}

// PositionLen is the number of parts of a [Page]'s Next.
const PositionLen = 4

// ErrPosition means that no page of the export begins at the given position.
var ErrPosition = errors.New("owned: not a position of an export")

const (
	pageMost  = 50 // items of a query; with the largest texts they take a megabyte
	stepsMost = 8  // calls of place for one page; with so many, a page without items is rare
)

type place struct {
	query func(agent string) tables.Query
	read  func(x Exporter, ctx context.Context, agent, after, then string) (items []tables.Item, next, thenNext string, err error) // instead of a query
	skips string                                                                                                                   // a type that another place exports
}

// places is in the order of the export.
var places = []place{
	{query: partition(tables.AgentPK)},
	{query: partition(tables.InboxPK)},
	{query: partition(tables.GuestbookPK)},
	{query: partition(func(agent string) string { return tables.LedgerPK(tables.AgentAccount(agent)) })},
	{query: partition(tables.QuotaPK)},
	{query: func(agent string) tables.Query { return tables.History(agent, 0, pageMost) }, skips: tables.TypeHistory},
	{query: func(agent string) tables.Query { return tables.Given(agent, "", pageMost) }},
	{read: Exporter.made},
	{read: Exporter.messages},
}

func partition(pk func(string) string) func(string) tables.Query {
	return func(agent string) tables.Query {
		return tables.Query{PK: pk(agent), Limit: pageMost, Consistency: tables.Strong}
	}
}

// Exporter exports agents.
type Exporter struct{ *app.App }

// Page returns the page of an agent's export that begins at a position; nil means the
// first. An item that changes during the export may be missing or come twice.
func (x Exporter) Page(ctx context.Context, p *tables.Profile, from []string) (*Page, error) {
	at, after, then := 0, "", tables.Key{}
	out := &Page{}
	if from == nil {
		claim, err := x.Table.Get(ctx, tables.Strong, tables.HandleKey(p.Handle))
		if err != nil {
			return nil, err
		}
		if err := out.add(claim...); err != nil {
			return nil, err
		}
	} else {
		n, err := strconv.Atoi(from[0])
		if err != nil || len(from) != PositionLen || n < 0 || n >= len(places) {
			return nil, ErrPosition
		}
		at, after, then = n, from[1], tables.Key{PK: from[2], SK: from[3]}
	}
	for range stepsMost {
		var err error
		if after, then, err = x.place(ctx, out, p.ID, places[at], after, then); err != nil {
			return nil, err
		}
		if after == "" {
			at++
		}
		if at == len(places) {
			return out, nil
		}
		if len(out.Items) > pageMost/2 {
			break
		}
	}
	out.Next = []string{strconv.Itoa(at), after, then.PK, then.SK}
	return out, nil
}

// place adds the next items of a place, and returns the position after them; "" at the
// place's end.
func (x Exporter) place(ctx context.Context, out *Page, agent string, p place, after string, then tables.Key) (next string, thenNext tables.Key, err error) {
	if p.read != nil {
		items, next, thenNext, err := p.read(x, ctx, agent, after, then.PK)
		if err != nil {
			return "", tables.Key{}, err
		}
		return next, tables.Key{PK: thenNext}, out.add(items...)
	}
	q := p.query(agent)
	if after != "" {
		q.After = &tables.Position{SK: after, Key: then}
		if indexed := q.Index != ""; indexed != (then.PK != "") || indexed != (then.SK != "") {
			return "", tables.Key{}, ErrPosition
		}
	}
	page, err := x.Table.Query(ctx, q)
	if err != nil {
		return "", tables.Key{}, err
	}
	items := page.Items
	if q.Index != "" { // an index has only keys
		keys := make([]tables.Key, len(items))
		for i, item := range items {
			keys[i] = item.Key()
		}
		if items, err = x.GetAll(ctx, tables.Strong, keys); err != nil {
			return "", tables.Key{}, err
		}
	}
	for _, item := range items {
		if item != nil && item.Str(tables.AttrType) != p.skips {
			if err := out.add(item); err != nil {
				return "", tables.Key{}, err
			}
		}
	}
	if page.Next == nil {
		return "", tables.Key{}, nil
	}
	return page.Next.SK, page.Next.Key, nil
}

// made reads the promos and the channels that the agent's history names.
func (x Exporter) made(ctx context.Context, agent, after, _ string) (items []tables.Item, next, _ string, err error) {
	q := tables.Query{PK: tables.AgentPK(agent), From: historySK, To: historySK + "~", Limit: pageMost, Consistency: tables.Strong}
	if after != "" {
		q.After = &tables.Position{SK: after}
	}
	page, err := x.Table.Query(ctx, q)
	if err != nil {
		return nil, "", "", err
	}
	var keys []tables.Key
	for _, item := range page.Items {
		var h tables.HistoryEntry
		if err := tables.Unmarshal(item, &h); err != nil {
			return nil, "", "", err
		}
		subject := tables.Item(h.Subject)
		switch channel := subject.Str("channel"); h.Kind {
		case tables.HistoryPromoStarted:
			keys = append(keys, tables.PromoKey(channel, subject.Str("promo")), tables.PastPromoKey(channel, subject.Str("promo")))
		case tables.HistoryChannelCreated:
			keys = append(keys, tables.ChannelKey(channel))
		}
	}
	if page.Next != nil {
		next = page.Next.SK
	}
	items, err = x.GetAll(ctx, tables.Strong, keys)
	return items, next, "", err
}

// messages reads the agent's conversations, one after another. A position is the other
// agent, and the last message that was read.
func (x Exporter) messages(ctx context.Context, agent, other, last string) (items []tables.Item, next, nextLast string, err error) {
	if other != "" && !id.Agent.Valid(other) {
		return nil, "", "", ErrPosition
	}
	if last == "" {
		q := tables.Query{PK: tables.AgentPK(agent), From: conversationSK, To: conversationSK + "~", Limit: 1, Consistency: tables.Strong}
		if other != "" {
			q.After = &tables.Position{SK: tables.ConversationKey(agent, other).SK}
		}
		page, err := x.Table.Query(ctx, q)
		if err != nil || len(page.Items) == 0 {
			return nil, "", "", err
		}
		other = strings.TrimPrefix(page.Items[0].Key().SK, conversationSK)
	}
	page, err := x.Table.Query(ctx, tables.Messages(agent, other, last, pageMost))
	if err != nil {
		return nil, "", "", err
	}
	if page.Next != nil {
		nextLast = strings.TrimPrefix(page.Next.SK, tables.MessagePrefix)
	}
	return page.Items, other, nextLast, nil
}

var (
	historySK      = new(tables.HistoryEntry).Item("").Key().SK
	conversationSK = tables.ConversationKey("", "").SK
)

func (out *Page) add(items ...tables.Item) error {
	for _, item := range items {
		kind, known := Kinds[item.Str(tables.AttrType)]
		if !known || kind.Not != "" {
			continue
		}
		if item.Str(tables.AttrType) == tables.TypeReport && tables.ReportOwner(item) != "" { // repeats the agent's own item
			continue
		}
		data := map[string]any{}
		for _, attr := range kind.Shows {
			if v, ok := item[attr]; ok {
				data[attr] = plain(v)
			}
		}
		if err := complete(item, data); err != nil {
			return err
		}
		out.Items = append(out.Items, Item{strings.TrimSuffix(item.Str(tables.AttrType), "_counted"), data})
	}
	return nil
}

// complete adds the values that an item holds in its key or in compressed form.
func complete(item tables.Item, data map[string]any) error {
	key := item.Key()
	after := func(k tables.Key) string { return strings.TrimPrefix(key.SK, k.SK) }
	switch item.Str(tables.AttrType) {
	case tables.TypeClaim:
		if handle, ok := strings.CutPrefix(key.PK, tables.HandleKey("").PK); ok {
			data["handle"] = handle
		} else {
			data["pub"] = strings.TrimPrefix(key.PK, tables.KeyClaimKey("").PK)
		}
	case tables.TypeTag:
		data["tag"] = after(tables.TagKey("", ""))
	case tables.TypeUsed:
		data["credential"] = strings.TrimPrefix(key.SK, tables.UsedPrefix)
	case tables.TypeComplaint:
		data["case"] = strings.TrimPrefix(key.PK, tables.CasePK(""))
	case tables.TypeMemorySlot:
		packed, _ := item["packed"].([]byte)
		text, err := pack.Unpack(packed)
		data["text"] = string(text)
		return err
	}
	return nil
}

// plain turns a value into one that encoding/json writes as expected.
func plain(v any) any {
	switch v := v.(type) {
	case tables.Set:
		return []string(v)
	case tables.Map:
		out := map[string]any{}
		for name, member := range v {
			out[name] = plain(member)
		}
		return out
	case tables.List:
		out := make([]any, len(v))
		for i, member := range v {
			out[i] = plain(member)
		}
		return out
	}
	return v
}
