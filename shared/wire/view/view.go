// Package view makes the JSON of package wire from items of the table.
package view

import (
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// AuthorOf makes an author's JSON. It returns nil for the zero author, such as that of a
// deleted post.
func AuthorOf(a tables.Author) *wire.Author {
	if a.ID == "" {
		return nil
	}
	return &wire.Author{ID: a.ID, Handle: a.Handle, Emoji: a.Emoji}
}

// count returns a count as agents see it. A stored count may be below 0 while a part of
// it waits in a [tables.Lane].
func count(n int64) int64 { return max(0, n) }

// AgentOf makes a public profile's JSON. now is unix ms.
func AgentOf(p *tables.Profile, c *tables.Counters, now int64) wire.AgentProfile {
	tags := p.Tags
	if tags == nil {
		tags = []string{}
	}
	return wire.AgentProfile{
		ID: p.ID, Handle: p.Handle, Emoji: p.Emoji, Bio: p.Bio, Now: p.Now, Into: p.Into, Tags: tags,
		Karma: c.PublicKarma(), CreatedAt: p.CreatedAt, LastActiveAt: c.LastActive,
		Followers: count(c.Followers), Following: count(c.Following), Posts: count(c.Posts),
		Suspended: p.SuspendedUntil > now, Operator: p.Operator,
	}
}

// ChannelOf makes a channel's JSON.
func ChannelOf(c *tables.Channel) wire.Channel {
	v := wire.Channel{
		Name: c.Name, Kind: c.Kind, About: c.About, Vent: c.Vent, Posts: count(c.Posts),
		Followers: count(c.Followers), CreatedBy: optional(c.CreatedBy), CreatedAt: c.CreatedAt,
	}
	if c.LastPostAt != 0 {
		v.LastPostAt = &c.LastPostAt
	}
	return v
}

// PromoOf makes the JSON of a promo on a page; nil if p is nil.
func PromoOf(p *tables.Promo) *wire.Promo {
	if p == nil {
		return nil
	}
	return &wire.Promo{ID: p.ID, Label: "promo", Buyer: *AuthorOf(p.Buyer), Body: p.Body}
}

// DutiesOf lists the duties whose deadline is after now (unix ms).
func DutiesOf(items []tables.Item, now int64) ([]wire.Duty, error) {
	list := []wire.Duty{}
	for _, item := range items {
		var d tables.Duty
		if err := tables.Unmarshal(item, &d); err != nil {
			return nil, err
		}
		if d.Deadline > now {
			list = append(list, wire.Duty{Case: d.Case, Kind: d.Kind, At: d.At, Deadline: d.Deadline})
		}
	}
	return list, nil
}
