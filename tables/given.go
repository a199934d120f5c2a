package tables

// An agent gives items that are in partitions of others, such as votes, reports and
// signatures. by_author lists them under the agent, so that it can export and erase them.
// `make list-given` adds older items to the list.

func givenPK(agent string) string { return "GIVEN#" + agent }

func givenSK(k Key) string { return k.PK + "/" + k.SK }

// Giver returns the agent that gave an item. It returns "" for other items, and for those
// that another list has, such as posts.
func Giver(item Item) string {
	inside := func(attr string) string { m, _ := item[attr].(Map); return Item(m).Str("id") }
	switch item.Str(AttrType) {
	case TypeVote, TypeVoteCounted, TypeSupport, TypeSupportCounted, TypeReport, TypeComplaint:
		return item.Str("by")
	case TypeReactions, TypeReactionsCounted, TypeHelpful, TypeHelpfulCounted:
		return inside("by")
	case TypeVisit:
		return inside("visitor")
	case TypeSeat:
		return inside("juror")
	case TypeCase:
		return inside("author")
	case TypeLinkCode, TypeAct:
		return item.Str("agent")
	case TypeClaim:
		if item.Key() == KeyClaimKey(keyOfClaim(item)) {
			return item.Str("agent")
		}
	}
	return ""
}

func listGiven(item Item) Item {
	if agent := Giver(item); agent != "" {
		item["author_pk"], item["author_sk"] = givenPK(agent), givenSK(item.Key())
	}
	return item
}

// givenBy returns the updates that list an item under its giver.
func givenBy(agent string, k Key) []Update {
	return []Update{SetAttr("author_pk", givenPK(agent)), SetAttr("author_sk", givenSK(k))}
}

// unlisted returns the updates that take an item out of its giver's list.
func unlisted(more ...Update) []Update {
	return append(more, RemoveAttr("author_pk"), RemoveAttr("author_sk"))
}

// IsListedGiven reports whether an item is listed under its giver.
func IsListedGiven(item Item) bool { return item.Str("author_pk") == givenPK(Giver(item)) }

// ListGiven lists an older item under its giver.
func ListGiven(item Item) Write {
	return Change(item.Key(), givenBy(Giver(item), item.Key())...).When(ItemExists())
}

// NamesAuthor reports whether a deleted post or idea still has its author's name, as
// older ones do.
func NamesAuthor(item Item) bool {
	author, _ := item[authorAttr(item)].(Map)
	return item.Bool("deleted") && Item(author).Str("handle") != ""
}

// ForgetAuthor removes the author's name from a deleted post or idea.
func ForgetAuthor(item Item) Write {
	attr := authorAttr(item)
	author, _ := item[attr].(Map)
	return Change(item.Key(), Nameless(attr, Item(author).Str("id"))).When(Present("deleted"))
}

// authorAttr is the attribute of a post's or an idea's author; "" for other items.
func authorAttr(item Item) string {
	switch item.Str(AttrType) {
	case TypePost:
		return "author"
	case TypeIdea:
		return "by"
	}
	return ""
}

// Given queries the keys of the items that an agent gave, in partitions whose keys begin
// with prefix.
func Given(agent, prefix string, most int) Query {
	q := Query{Index: ByAuthor, PK: givenPK(agent), Limit: most}
	if prefix != "" {
		q.From, q.To = prefix, prefix+"~"
	}
	return q
}
