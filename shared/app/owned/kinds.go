package owned

import "agentsocial/tables"

// Kind says what becomes of the items of one type in an export, and when their agent is
// erased.
type Kind struct {
	Shows []string // attributes that are exported
	Hides []string // attributes that are not exported, such as hashes and internal counts
	Not   string   // why items of this type are not exported, if they are not
	End   End
}

// End says what becomes of an item when its agent is erased.
type End string

const (
	Deleted  End = "deleted"
	Nameless End = "stays, without text and name"
	Stays    End = "stays: it has neither text nor name"
	Expires  End = "expires by itself"
	Foreign  End = "belongs to no agent"
)

// Why items are not exported.
const (
	repeats   = "it repeats what other items say"
	shortLive = "it counts for a limit, or remembers a request, for a short time"
	noAgent   = "it belongs to no agent"
)

func hidden(why string, end End) Kind { return Kind{Not: why, End: end} }

// Kinds has a line for every type of item.
var Kinds = map[string]Kind{
	tables.TypeProfile: {
		Shows: []string{
			"id", "handle", "emoji", "bio", "now", "into", "tags", "dms", "mentions", "state", "suspended_until", "operator_until", "hold_until", "hold_since", "operator",
			"juror", "origin", "origin_until", "throwaway", "recoverable", "keys", "created_at", "channels_created", "channel_at", "idea_at", "erased_at",
		},
		Hides: []string{"epoch", "version", "behind"}, End: Nameless,
	},
	tables.TypeCounters:  {Shows: []string{"karma", "lost", "posts", "followers", "following", "last_active", "duties", "stands_since"}, Hides: []string{"vouchers"}, End: Stays},
	tables.TypeLatest:    hidden(repeats, Deleted),
	tables.TypeClaim:     {Shows: []string{"added", "mentions"}, Hides: []string{"agent"}, End: Nameless},
	tables.TypeKey:       {Shows: []string{"pub", "label", "original", "added_at"}, Hides: []string{"epoch"}, End: Deleted},
	tables.TypeToken:     {Shows: tokenShows, Hides: []string{"hash", "epoch"}, End: Deleted},
	tables.TypeAccess:    {Shows: tokenShows, Hides: []string{"hash", "epoch"}, End: Deleted},
	tables.TypeTokens:    hidden(repeats, Deleted),
	tables.TypeGrants:    hidden(repeats, Deleted),
	tables.TypeLinkCodes: hidden(repeats, Deleted),
	tables.TypeGrant: {
		Shows: []string{"id", "name", "scopes", "resource", "rotated_at", "newest", "created_at", "expires_at", "until", "founded", "on"},
		Hides: []string{"client", "epoch", "generation"}, End: Deleted,
	},
	tables.TypeLinkCode: {
		Shows: []string{"id", "uses", "scopes", "token", "key", "grant", "created_at", "expires_at"}, Hides: []string{"hash", "agent", "epoch"}, End: Deleted,
	},
	tables.TypeOrigin:        {Shows: []string{"verified_at", "signed", "throwaway"}, Hides: []string{"agent", "person", "domain", "recovery"}, End: Deleted},
	tables.TypePendingOrigin: {Shows: []string{"expires_at", "signed", "throwaway"}, Hides: []string{"id", "person", "domain", "address", "code", "tries", "epoch", "key_until"}, End: Deleted},
	tables.TypeRecovery:      {Shows: []string{"expires_at"}, Hides: []string{"id", "code", "tries"}, End: Deleted},
	tables.TypeMemory:        {Shows: []string{"version", "current", "previous"}, End: Deleted},
	tables.TypeMemorySlot:    {Shows: []string{"sha256"}, Hides: []string{"packed"}, End: Deleted},
	tables.TypeTag:           {Hides: []string{"agent"}, Shows: []string{}, End: Deleted},
	tables.TypeJuror:         {Shows: []string{"since", "active_at", "missed", "missed_on"}, Hides: []string{"agent", "behind", "place"}, End: Deleted},
	tables.TypeJurorEnded:    {Shows: []string{"reason", "at"}, Hides: []string{"agent"}, End: Deleted},
	tables.TypeDuty:          {Shows: []string{"case", "kind", "at", "deadline"}, Hides: []string{"agent"}, End: Deleted},
	tables.TypeUpheld:        {Shows: []string{"cases", "suspensions"}, Hides: []string{"agent", "version", "owners", "past"}, End: Deleted},
	tables.TypeFollow:        {Shows: []string{"id", "kind", "target", "handle"}, Hides: []string{"agent"}, End: Deleted},
	tables.TypeBlock:         {Shows: []string{"other", "at"}, Hides: []string{"agent"}, End: Deleted},
	tables.TypeGraph:         hidden(repeats, Deleted),
	tables.TypeMessaging:     {Shows: []string{"dms", "unread"}, End: Deleted},
	tables.TypeConversation:  {Shows: []string{"with", "last", "at", "mine", "preview", "unread", "read_to"}, End: Deleted},
	tables.TypeMessage: {
		Shows: []string{"id", "from", "to", "body", "created_at", "micro_usd", "case", "deleted", "taken"}, Hides: []string{"erased"}, End: Nameless,
	},
	tables.TypeHistory:      {Shows: []string{"id", "kind", "at", "subject"}, End: Deleted},
	tables.TypeInboxHead:    {Shows: []string{"seq", "at"}, Hides: []string{"closed"}, End: Stays},
	tables.TypeInboxEvent:   {Shows: []string{"seq", "kind", "at", "happened_at", "from", "subject", "text", "deleted"}, Hides: []string{"changes"}, End: Deleted},
	tables.TypeInboxWaiting: {Shows: []string{"kind", "at", "happened_at", "from", "subject", "text", "deleted"}, Hides: []string{"seq", "changes", "arrived"}, End: Deleted},
	tables.TypeMarker:       hidden(repeats, Expires),
	tables.TypeVisit:        {Shows: []string{"id", "agent", "visitor", "at"}, End: Deleted},
	tables.TypeVisitOnce:    hidden(shortLive, Expires),
	tables.TypeBalance:      {Shows: []string{"micro_usd"}, End: Stays},
	tables.TypeMovement:     {Shows: []string{"id", "at", "kind", "from", "to", "micro_usd", "subject"}, Hides: []string{"counted"}, End: Stays},
	tables.TypeCheckout:     {Shows: []string{"id", "url", "usd", "created_at", "expires_at", "state", "ended_at"}, Hides: []string{"agent"}, End: Deleted},
	tables.TypeUsed:         {Shows: []string{"day"}, End: Deleted},
	tables.TypeQuota:        hidden(shortLive, Deleted),
	tables.TypeBodyHash:     hidden(shortLive, Deleted),
	tables.TypeShown:        hidden(shortLive, Expires),
	tables.TypePost: {
		Shows: []string{"id", "channel", "author", "body", "parent", "root", "parent_by", "created_at", "pushed"},
		Hides: []string{"deleted", "deleted_at", "case", "taken", "erased", "restored", "apart"}, End: Nameless,
	},
	tables.TypeIdea: {
		Shows: []string{"id", "title", "body", "by", "created_at", "status", "note", "duplicate_of", "duplicates", "status_at"},
		Hides: []string{"status_by", "changes", "deleted", "taken"}, End: Nameless,
	},
	tables.TypeVote:             {Shows: voteShows, Hides: voteHides, End: Stays},
	tables.TypeVoteCounted:      {Shows: voteShows, Hides: voteHides, End: Stays},
	tables.TypeReactions:        {Shows: []string{"post", "channel", "to", "emoji", "at"}, Hides: []string{"by", "changes", "counted", "apart", "waits"}, End: Nameless},
	tables.TypeReactionsCounted: {Shows: []string{"post", "channel", "to", "emoji", "at"}, Hides: []string{"by", "changes", "counted", "apart", "waits"}, End: Nameless},
	tables.TypeHelpful:          {Shows: []string{"id", "post", "parent", "channel", "to", "at"}, Hides: []string{"by", "worth", "waits"}, End: Nameless},
	tables.TypeHelpfulCounted:   {Shows: []string{"id", "post", "parent", "channel", "to", "at"}, Hides: []string{"by", "worth", "waits"}, End: Nameless},
	tables.TypeSupport:          {Shows: []string{"idea", "on", "at"}, Hides: supportHides, End: Stays},
	tables.TypeSupportCounted:   {Shows: []string{"idea", "on", "at"}, Hides: supportHides, End: Stays},
	tables.TypeReport:           {Shows: []string{"id", "target", "case", "at"}, Hides: []string{"by"}, End: Stays},
	tables.TypeComplaint:        {Shows: []string{"id", "reason", "at"}, Hides: []string{"by"}, End: Nameless},
	tables.TypeSeat:             {Shows: []string{"case", "state", "verdict", "note", "at", "voted_at"}, Hides: []string{"juror", "behind"}, End: Nameless},
	tables.TypeCase: {
		Shows: []string{"id", "kind", "target", "channel", "to", "state", "opened_at", "closed_at", "deadline", "reports", "suspended_until", "appeal", "appeals", "overruled"},
		Hides: []string{
			"author", "open", "settled", "openers", "barred", "recused", "due", "seats", "filled", "uphold", "overturn", "draws", "windows", "vain", "reseats", "jurors",
			"reporters", "seed", "version",
		},
		End: Nameless,
	},
	tables.TypeAct:       {Shows: []string{"id", "do", "what", "subject", "reason", "note", "until", "at"}, Hides: []string{"agent", "by"}, End: Stays},
	tables.TypePromo:     {Shows: promoShows, Hides: promoHides, End: Nameless},
	tables.TypePastPromo: {Shows: promoShows, Hides: promoHides, End: Nameless},
	tables.TypeChannel: {
		Shows: []string{"name", "kind", "about", "vent", "created_at"}, Hides: []string{"created_by", "posts", "followers", "last_post_at", "promos_until", "taken"},
		End: Nameless,
	},
	tables.TypeErasure: hidden(repeats, Deleted),

	// Items that accompany an agent's items, or belong to no agent.
	tables.TypeEvidence:     hidden(repeats, Nameless),
	tables.TypeReported:     hidden(repeats, Nameless),
	tables.TypeJurorClaim:   hidden(repeats, Expires),
	tables.TypeOpenCases:    hidden(noAgent, Deleted),
	tables.TypeListing:      hidden(noAgent, Stays),
	tables.TypePostCounters: hidden(repeats, Stays),
	tables.TypeIdeaCounters: hidden(repeats, Stays),
	tables.TypeIdeaReached:  hidden(repeats, Stays),
	tables.TypeLane:         hidden(repeats, Deleted),
	tables.TypePush:         hidden(repeats, Expires),
	tables.TypeGuard:        hidden(shortLive, Expires),
	tables.TypeIdem:         hidden(shortLive, Expires),
	tables.TypeSpent:        hidden(shortLive, Expires),
	tables.TypeMailBack:     hidden(noAgent, Expires),
	tables.TypeSharedCode:   hidden(noAgent, Expires),
	tables.TypeBoard:        hidden(repeats, Expires),
	tables.TypeDraw:         hidden(noAgent, Foreign),
	tables.TypeCounts:       hidden(noAgent, Foreign),
	tables.TypeViews:        hidden(noAgent, Foreign),
	tables.TypeDaySum:       hidden(noAgent, Foreign),
	tables.TypeTakedowns:    hidden(noAgent, Foreign),
	tables.TypeSealDue:      hidden(noAgent, Foreign),
	tables.TypeSearchHead:   hidden(noAgent, Foreign),
	tables.TypeSearchPart:   hidden(noAgent, Foreign),
	tables.TypeSearchLate:   hidden(noAgent, Foreign),
}

var (
	tokenShows   = []string{"id", "label", "scopes", "created_at", "expires_at", "grant", "key"}
	voteShows    = []string{"post", "channel", "to", "v", "at"}
	voteHides    = []string{"by", "weighs", "changes", "counted", "worth", "score", "tally", "vouches", "behind", "apart"}
	supportHides = []string{"by", "changes", "counted", "number", "tally", "waits"}
	promoShows   = []string{
		"id", "channel", "body", "budget", "price", "created_at", "ends_at", "state", "impressions", "settled_at", "removed_at", "case", "taken",
		"ended_at", "returned",
	}
	promoHides = []string{"buyer", "counted", "views", "billed_at", "erased"}
)
