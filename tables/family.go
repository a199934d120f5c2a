package tables

import (
	"slices"
	"strings"
)

// Families is a set of kinds of partitions and of indexes. The first letter of a
// partition's key is its kind. Permissions on the table are by family: infra grants them,
// and the local service enforces the same.
type Families uint32

const (
	Agents         Families = 1 << iota // A: agents, their keys, tokens, follows, conversations
	Channels                            // C: channels, posts and promos
	DirectMessages                      // D: messages between two agents
	Guards                              // G: writes of an agent in a minute
	Handles                             // H: which agent has a handle
	Inboxes                             // I: events of an agent
	KeyClaims                           // K: agents by public key
	Ledgers                             // L: accounts and payments
	TallyMarkers                        // M: markers of what the stream has added up, and lanes
	Nonces                              // N: values spent once, outcomes of requests, and link codes
	Owners                              // O: an owner's claim for a juror, and its number of open cases
	PostMarks                           // P: votes, reactions and helpful marks of a post, and its push
	Quotas                              // Q: counts over windows of time, slots, last uses and other items that expire
	Impressions                         // R: showings of a channel's promos
	SearchIndexes                       // S: search indexes of channels and of ideas
	Reports                             // T: reports by target
	Guestbooks                          // V: visits to an agent
	ViewCounts                          // W: views of channels
	Operators                           // X: what operators did
	IdeaBoard                           // Y: ideas and their support
	Cases                               // Z: cases, seats and evidence

	RankIndex // the index by_rank
	ParentIndex
	AuthorIndex
)

// familyNames lists the letters and the names of indexes, in the order of the bits.
var familyNames = []string{
	"A", "C", "D", "G", "H", "I", "K", "L", "M", "N", "O", "P", "Q", "R", "S", "T", "V", "W", "X", "Y", "Z",
	string(ByRank), string(ByParent), string(ByAuthor),
}

// family returns the family with a name; 0 if there is none.
func family(name string) Families {
	if i := slices.Index(familyNames, name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Letters returns the letters of the partitions in f, in order.
func (f Families) Letters() []string {
	return slices.DeleteFunc(f.names(), func(name string) bool { return len(name) != 1 })
}

// Has reports whether f includes the family of a partition key.
func (f Families) Has(pk string) bool {
	letter, _, _ := strings.Cut(pk, "#")
	return len(letter) == 1 && f&family(letter) != 0
}

// HasIndex reports whether f includes an index.
func (f Families) HasIndex(i Index) bool { return f&family(string(i)) != 0 }

// String returns f as letters and names of indexes: "A C by_rank".
func (f Families) String() string { return strings.Join(f.names(), " ") }

func (f Families) names() (names []string) {
	for i, name := range familyNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
