package view

import (
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// IdeaOf makes an idea's JSON from its two items.
func IdeaOf(i *tables.Idea, c *tables.IdeaCounters) wire.Idea {
	duplicates := []string(i.Duplicates)
	if duplicates == nil {
		duplicates = []string{}
	}
	return wire.Idea{
		ID: i.ID, Title: i.Title, Body: i.Body, By: AuthorOf(i.By), Status: i.Status, Note: i.Note,
		DuplicateOf: optional(i.DuplicateOf), Duplicates: duplicates, Support: c.Support, CreatedAt: i.CreatedAt,
	}
}

// IdeaFor makes an idea's JSON for a reader with a credential. support is the item
// of the reader's support, or nil.
func IdeaFor(i *tables.Idea, c *tables.IdeaCounters, support tables.Item) wire.Idea {
	v, on := IdeaOf(i, c), support.Bool("on")
	v.Supported = &on
	return v
}
