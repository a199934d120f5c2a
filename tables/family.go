package tables

import (
	"slices"
	"strings"
)

// Families are kinds of partitions, told apart by the letter that their keys begin
// with, and the indexes, as a set. Rights over the one table are told apart by
// them: infra grants them by the leading keys of what a function touches, and the
// local service holds its functions to the same.
type Families uint32

const (
	Agents         Families = 1 << iota // A: agents, their keys, tokens, follows, conversations
	Channels                            // C: channels and posts
	DirectMessages                      // D: messages of two agents
	Guards                              // G: an agent's writes of a minute
	Handles                             // H: which agent has a handle
	Inboxes                             // I: events of an agent
	OriginalKeys                        // K: which agent registered with a key
	Ledgers                             // L: accounts, and payments
	TallyMarkers                        // M: what the stream has added up
	Nonces                              // N: what is spent once, and outcomes of requests
	Owners                              // O: who is behind agents
	PostMarks                           // P: votes, reactions and helpful marks of a post
	Quotas                              // Q: what is counted over hours and days
	Impressions                         // R: what a channel's promos were shown
	SearchIndexes                       // S: of channels and of ideas
	Reports                             // T: what was reported
	Guestbooks                          // V: visits of an agent
	ViewCounts                          // W: how often a channel was looked at
	IdeaBoard                           // Y: ideas and their support
	Cases                               // Z: cases, seats and evidence

	RankIndex // the index by_rank
	ParentIndex
	AuthorIndex
)

// familyNames are the letters and the names of indexes, in the order of the bits.
var familyNames = []string{
	"A", "C", "D", "G", "H", "I", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "V", "W", "Y", "Z",
	string(ByRank), string(ByParent), string(ByAuthor),
}

// family is the one of a name; 0 if there is none.
func family(name string) Families {
	if i := slices.Index(familyNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Letters lists the letters of the partitions among f, in order.
func (f Families) Letters() []string {
	return slices.DeleteFunc(f.names(), func(name string) bool { return len(name) > 1 })
}

// Has reports whether a partition of the table, by its key, is of one of f.
func (f Families) Has(pk string) bool {
	letter, _, _ := strings.Cut(pk, "#")
	return len(letter) == 1 && f&family(letter) != 0
}

// HasIndex reports whether an index is among f.
func (f Families) HasIndex(i Index) bool { return f&family(string(i)) != 0 }

// String lists f as letters and names of indexes: "A C by_rank".
func (f Families) String() string { return strings.Join(f.names(), " ") }

func (f Families) names() (names []string) {
	for i, name := range familyNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
