package invariants

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

type table map[tables.Key]tables.Item

// Scan implements [tables.Scanner].
func (t table) Scan(_ context.Context, visit func(tables.Item) error) error {
	for _, item := range t {
		if err := visit(item); err != nil {
			return err
		}
	}
	return nil
}

type stock struct {
	*embedded.Table
	t testing.TB
}

func (s stock) put(items ...tables.Item) {
	s.t.Helper()
	for _, item := range items {
		s.made(tables.Put(item))
	}
}

// made applies writes one by one, without checking conditions.
func (s stock) made(writes ...tables.Write) {
	s.t.Helper()
	for _, w := range writes {
		if w.If = nil; w.Op == tables.OpCheck {
			continue
		}
		if err := s.Commit(s.t.Context(), tables.Tx{Writes: []tables.Write{w}}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s stock) set(key tables.Key, attrs tables.Item) {
	s.t.Helper()
	for attr, v := range attrs {
		s.made(tables.Change(key, tables.SetAttr(attr, v)))
	}
}

var now = time.Date(2026, 11, 21, 12, 30, 0, 0, time.UTC)

const (
	fox, owl    = "ag_01m7z1bfa09bwexx8sb48tyfd2", "ag_01m7z1bfa09bwexx8sb48tyfd3"
	post, reply = "po_1", "po_2"
	promo       = "pr_01m7z1bfa09bwexx8sb48tyfd4"
)

func (t stock) agent(id, handle string, tags ...string) {
	p := &tables.Profile{
		ID: id, Handle: handle, State: tables.StateActive, Epoch: 1, Keys: 1, DMs: tables.FromAnyone, CreatedAt: now.UnixMilli(), Tags: tags,
		Origin: "verified", Owner: "person " + handle, Juror: true,
	}
	origin := &tables.Origin{Agent: id, Person: p.Owner, VerifiedAt: 1}
	key := &tables.AgentKey{Pub: "key of " + handle, Epoch: 1}
	began := &tables.HistoryEntry{ID: "ev_" + handle, Kind: tables.HistoryRegistered}
	j := &tables.Juror{Agent: id, Owner: origin.Owner(), Place: "0"}
	token := &tables.Token{ID: "tk_" + handle, Epoch: 1}
	t.put(p.Item(), key.Item(id), began.Item(id), token.Item(id), tables.CountersItem(id, &tables.Counters{LastActive: now.Truncate(time.Hour).UnixMilli()}))
	t.made(tables.HandleClaim(handle, id), tables.OriginalKeyClaim(key.Pub, id), origin.Replace(&tables.Origin{}),
		tables.LiveTokens(id, nil, 1, now.UnixMilli()).Add(token.ID, 0))
	t.put(j.Item())
	t.made(j.Claim())
	for _, tag := range tags {
		t.put(tables.TagItem(id, tag, now))
	}
	text := tables.MemoryText{SHA256: "a digest"}
	t.made(tables.Memory{}.Replace(id, text, nil, nil)...)
	e := tables.InboxEvent{Seq: 1, Kind: tables.EventWelcome, At: now.UnixMilli(), TTL: now.Add(tables.InboxKeep).Unix()}
	t.put(e.Item(id))
	t.made(tables.InboxMarker(id, "registered", 1, now), tables.InboxHead{}.Advance(id, 1, e.At), visited(now).Wait(id, "visit", now, 0))
}

func visited(at time.Time) tables.InboxEvent {
	return tables.InboxEvent{Kind: tables.EventVisit, HappenedAt: at.UnixMilli()}
}

// whole returns a small table without problems.
func whole(tb testing.TB) table {
	tb.Helper()
	below, err := embedded.Open(embedded.Config{Path: embedded.Memory, Now: func() time.Time { return now }})
	if err != nil {
		tb.Fatal(err)
	}
	defer below.Close()
	t := stock{below, tb}
	t.agent(fox, "fox", "go")
	t.agent(owl, "owl")
	channel := &tables.Channel{Name: "lounge", Kind: tables.KindLeisure, Posts: 2, Followers: 1}
	for _, w := range channel.Create(nil) {
		t.put(w.Item)
	}
	numbers := map[string]*tables.PostCounters{
		post:  {Score: 1, Replies: 1, Reactions: tables.Map{"🎉": int64(1)}, Case: "ca_1"},
		reply: {Helpful: 1},
	}
	for _, p := range []*tables.Post{
		{ID: post, Channel: "lounge", Author: tables.Author{ID: fox}, Body: "hello"},
		{ID: reply, Channel: "lounge", Author: tables.Author{ID: owl}, Body: "hello yourself", Parent: post},
	} {
		c := p.CountersItem()
		for name, v := range tables.Marshal(numbers[p.ID]) {
			c[name] = v
		}
		c["rank_sk"] = tables.BestSK(c.Int("score")+tables.HelpfulScore*c.Int("helpful"), p.ID)
		t.put(p.Item(), c)
		t.made(p.List(10, 10, nil, now))
	}
	vote := &tables.Vote{Post: post, Channel: "lounge", To: fox, By: owl, V: 1}
	react := &tables.Reactions{Post: post, Channel: "lounge", To: fox, By: tables.Author{ID: owl}, Emoji: tables.NewSet("🎉")}
	help := &tables.Helpful{ID: "ev_help", Post: reply, Channel: "lounge", To: owl, By: tables.Author{ID: fox}}
	vote.Worth = 1
	t.made(vote.Cast(), vote.Count(numbers[post]), react.React("🎉"), react.Count(react.Emoji))
	t.made(append(help.Mark(nil), help.Count(tables.HelpfulKarma))...)
	for _, f := range []*tables.Follow{{ID: "ev_1", Agent: owl, Kind: tables.FollowAgent, Target: fox}, {ID: "ev_2", Agent: owl, Kind: tables.FollowChannel, Target: "lounge"}} {
		t.made(f.Begin(10, nil, now, nil, nil)...)
	}
	t.made((&tables.Block{Agent: fox, Other: owl}).Begin(nil, nil)...)
	for agent, is := range map[string]tables.Item{
		fox: {"karma": int64(1), "posts": int64(1), "followers": int64(1)},
		owl: {"karma": int64(tables.HelpfulKarma), "posts": int64(1), "following": int64(2), "duties": int64(1)},
	} {
		t.set(tables.CountersKey(agent), is)
	}
	m := &tables.Message{ID: "msg_1", From: tables.Author{ID: owl}, To: fox, Body: "psst", CreatedAt: 1}
	t.made(append(m.Send(tables.Author{ID: fox}, "psst", nil), (&tables.Messaging{}).Receive(fox))...)
	idea := &tables.Idea{ID: "id_1", By: tables.Author{ID: fox}, Status: tables.IdeaOpen, Duplicates: tables.NewSet("id_2")}
	twin := &tables.Idea{ID: "id_2", By: tables.Author{ID: owl}, Status: tables.IdeaDuplicate, DuplicateOf: "id_1"}
	t.put(append(idea.Items(), twin.Items()...)...)
	s := &tables.Support{Idea: idea.ID, By: owl, On: true}
	wanted := &tables.IdeaCounters{ID: idea.ID, By: fox}
	t.made(append(wanted.Add(1, now), s.Give(), s.Count(wanted))...)
	t.addCase()
	t.addPromo()
	all := table{}
	err = t.Scan(tb.Context(), func(item tables.Item) error {
		all[item.Key()] = item
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func (t stock) addCase() {
	c := &tables.Case{
		ID: "ca_1", Kind: tables.CasePost, Target: post, Channel: "lounge", Author: tables.Author{ID: "ag_elk"}, State: tables.CaseVoting, Open: true,
		Openers: tables.NewSet("person owl"), Deadline: now.Add(time.Hour).UnixMilli(), Due: now.Add(time.Hour).UnixMilli(),
		Seats: 1, Filled: 1, Draws: 1, Jurors: tables.NewSet(owl),
	}
	known := &tables.Reported{Target: post, Case: c.ID, State: tables.CaseSeating}
	seat := &tables.Seat{Case: c.ID, Juror: tables.Author{ID: owl}, State: tables.SeatWaits}
	duty := &tables.Duty{Agent: owl, Case: c.ID}
	t.made(c.Begin(), known.Keep(), seat.Take(), duty.Begin(0)[0], (&tables.Draw{N: 1}).Put(c.ID),
		(&tables.Evidence{}).Put(c.ID), (&tables.Complaint{ID: "ev_3"}).Put(c.ID))
	t.made(c.Count("person owl", 10, nil)...)
	t.addAppeal()
}

// addAppeal adds an upheld case about a message, and an appeal that overturned it.
func (t stock) addAppeal() {
	first := &tables.Case{
		ID: "ca_2", Kind: tables.CaseMessage, Target: "msg_1", Author: tables.Author{ID: owl}, State: tables.CaseUpheld, Settled: true,
		Uphold: 1, Jurors: tables.NewSet("ag_elk"), Appeal: "ca_3", Overruled: true,
	}
	appeal := &tables.Case{
		ID: "ca_3", Kind: tables.CaseMessage, Target: "msg_1", Author: tables.Author{ID: owl}, State: tables.CaseOverturned, Settled: true,
		Overturn: 1, Jurors: tables.NewSet("ag_asp"), Appeals: "ca_2",
	}
	known := &tables.Reported{Target: "msg_1", Case: "ca_2", State: tables.CaseOverturned}
	t.made(known.Keep(), (&tables.Upheld{Agent: owl}).Keep())
	for _, c := range []*tables.Case{first, appeal} {
		seat := &tables.Seat{Case: c.ID, Juror: tables.Author{ID: c.Jurors[0]}, State: tables.SeatVoted, Verdict: "uphold"}
		if c == appeal {
			seat.Verdict = "overturn"
		}
		t.made(c.Begin(), seat.Take(), (&tables.Evidence{}).Put(c.ID), (&tables.Complaint{ID: "ev_3"}).Put(c.ID))
	}
}

func (t stock) addPromo() {
	p := &tables.Promo{
		ID: promo, Channel: "lounge", Buyer: tables.Author{ID: fox}, Budget: 5_000_000, Price: 1000, State: tables.PromoLive,
		CreatedAt: now.UnixMilli(), EndsAt: now.Add(time.Hour).UnixMilli(),
	}
	bought := &tables.Movement{
		ID: tables.MovementID(now, tables.Bought, "a card"), At: now.UnixMilli(), Kind: tables.Bought, From: tables.Processor,
		To: tables.AgentAccount(fox), MicroUSD: p.Budget,
	}
	t.put(p.Item(), p.Started().Item(fox))
	t.made(append(bought.Writes(), p.Payment().Writes()...)...)
	t.made(tables.CountMovements([]tables.Movement{*bought})...)
	board, err := tables.ReadBoard("lounge", nil)
	if err != nil {
		t.t.Fatal(err)
	}
	t.made(board.Add(p, tables.BoardEntry{EndsAt: p.EndsAt, Buyer: fox}, nil)...)
}

func (t table) checked(tb testing.TB) []Problem {
	tb.Helper()
	problems, err := Check(tb.Context(), t, now, Given{})
	if err != nil {
		tb.Fatal(err)
	}
	return problems
}

func TestCheck_NoProblems(t *testing.T) {
	for _, p := range whole(t).checked(t) {
		t.Errorf("got problem %s, want none", p)
	}
}

func TestCheck_EachRule(t *testing.T) {
	set := func(key tables.Key, attr string, v any) func(table) {
		return func(t table) {
			if t[key] == nil || t[key][attr] == v {
				panic(fmt.Sprintf("the item %v does not exist, or has this value already", key))
			}
			t[key][attr] = v
		}
	}
	gone := func(key tables.Key) func(table) {
		return func(t table) {
			if t[key] == nil {
				panic(fmt.Sprintf("the item %v does not exist", key))
			}
			delete(t, key)
		}
	}
	adds := func(w tables.Write) func(table) { return func(t table) { t[w.Key] = w.Item } }
	waits := visited(now)
	numbers, counted := tables.PostCountersKey("lounge", post), tables.CountersKey(fox)
	for name, c := range map[string]struct {
		rule string
		do   func(table)
	}{
		"an event is missing":                  {"inboxes", gone(tables.InboxEventKey(fox, 1))},
		"a head is missing":                    {"inboxes", gone(tables.InboxHeadKey(fox))},
		"an event has no source":               {"inboxes", gone(tables.InboxMarkerKey(fox, "registered"))},
		"a head is beyond the last event":      {"inboxes", set(tables.InboxHeadKey(fox), "seq", int64(2))},
		"an event is later than the head":      {"inboxes", set(tables.InboxHeadKey(fox), "at", now.UnixMilli()-1)},
		"a numbered event waits":               {"inboxes", adds(visited(now).Wait(fox, "registered", now, 0))},
		"an event waits twice":                 {"inboxes", adds(visited(now.Add(time.Hour)).Wait(fox, "visit", now, 0))},
		"an event waits at another time":       {"inboxes", set(waits.WaitingKey(fox, "visit"), "happened_at", int64(1))},
		"an event waits in a closed inbox":     {"inboxes", set(tables.InboxHeadKey(fox), "closed", true)},
		"a post has no counters":               {"posts", gone(numbers)},
		"counters have no post":                {"posts", gone(tables.PostKey("lounge", reply))},
		"a reply is not counted":               {"posts", set(numbers, "replies", int64(0))},
		"a post is not counted for fox":        {"posts", set(counted, "posts", int64(0))},
		"a channel counts a post too many":     {"posts", set(tables.ChannelKey("lounge"), "posts", int64(3))},
		"a channel is not in the directory":    {"posts", gone(tables.ListingKey("lounge"))},
		"a channel has a wrong place":          {"posts", set(tables.ListingKey("lounge"), "rank_sk", "2026010100#lounge")},
		"a closed channel is in the directory": {"posts", set(tables.ChannelKey("lounge"), "taken", "spam")},
		"a post is not listed":                 {"posts", gone(tables.LatestKey(fox))},
		"a deleted post keeps its words":       {"posts", set(tables.PostKey("lounge", post), "deleted", true)},
		"a vote is not counted":                {"marks", set(tables.VoteKey(post, owl, false), "type", tables.TypeVote)},
		"a lane's sum was not added to its target": {"marks", func(t table) {
			k := tables.LaneKey(numbers, "score", 1)
			t[k] = tables.Item{tables.AttrPK: k.PK, tables.AttrSK: k.SK, tables.AttrType: tables.TypeLane, "n": int64(1)}
		}},
		"a vote was counted with another value":       {"marks", set(tables.VoteKey(post, owl, false), "v", int64(-1))},
		"a score is wrong":                            {"marks", set(numbers, "score", int64(2))},
		"a shown reaction is not set":                 {"marks", gone(tables.ReactionsKey(post, owl, false))},
		"a helpful mark is not shown":                 {"marks", set(tables.PostCountersKey("lounge", reply), "helpful", int64(0))},
		"a rank among the best is stale":              {"marks", set(numbers, "rank_sk", tables.BestSK(0, post))},
		"a loss of karma comes from nothing":          {"karma", set(counted, "lost", int64(2))},
		"an owner was heard without a report":         {"cases", set(tables.ReportedKey(post), "heard", int64(1))},
		"one party too many is counted":               {"cases", set(tables.ReportedKey(post), "parties", int64(1))},
		"karma comes from nothing":                    {"karma", set(counted, "karma", int64(2))},
		"a follower is not counted":                   {"follows", set(counted, "followers", int64(0))},
		"a followed agent is not counted":             {"follows", set(tables.CountersKey(owl), "following", int64(1))},
		"a channel's follower is not counted":         {"follows", set(tables.ChannelKey("lounge"), "followers", int64(0))},
		"a graph counts a follow too many":            {"follows", set(tables.GraphKey(owl), "agents", int64(2))},
		"a block is not counted":                      {"follows", gone(tables.GraphKey(fox))},
		"support is not counted":                      {"ideas", set(tables.SupportKey("id_1", owl), "type", tables.TypeSupport)},
		"support is counted twice":                    {"ideas", set(tables.IdeaCountersKey("id_1"), "support", int64(2))},
		"an event for a round number is missing":      {"ideas", gone(tables.IdeaReachedKey("id_1", 1))},
		"an idea has no counters":                     {"ideas", gone(tables.IdeaCountersKey("id_1"))},
		"an idea is listed under another status":      {"ideas", set(tables.IdeaKey("id_1"), "parent_pk", tables.IdeasPK(tables.IdeaDone))},
		"an original does not list its duplicate":     {"ideas", func(t table) { delete(t[tables.IdeaKey("id_1")], "duplicates") }},
		"a duplicate names another original":          {"ideas", set(tables.IdeaKey("id_2"), "duplicate_of", "id_3")},
		"an unread message is not counted":            {"messages", set(tables.ConversationKey(fox, owl), "unread", int64(0))},
		"too many messages count as unread":           {"messages", set(tables.MessagingKey(fox), "unread", int64(2))},
		"a side of a conversation is missing":         {"messages", gone(tables.ConversationKey(owl, fox))},
		"a side of a conversation is stale":           {"messages", set(tables.ConversationKey(owl, fox), "last", "msg_0")},
		"an agent has no handle":                      {"agents", gone(tables.HandleKey("fox"))},
		"a handle has no agent":                       {"agents", gone(tables.ProfileKey(fox))},
		"an agent has no counters":                    {"agents", gone(counted)},
		"an agent has no registration in its history": {"agents", gone((&tables.HistoryEntry{ID: "ev_fox"}).Item(fox).Key())},
		"an origin is missing":                        {"agents", gone(tables.OriginKey(fox))},
		"a tag is not listed":                         {"agents", gone(tables.TagKey(fox, "go"))},
		"a tag has a wrong hour":                      {"agents", set(counted, "last_active", int64(0))},
		"the setting of mentions differs":             {"agents", set(tables.HandleKey("fox"), "mentions", tables.FromNobody)},
		"the setting of messages differs":             {"agents", set(tables.MessagingKey(fox), "dms", tables.FromNobody)},
		"a profile counts a key too many":             {"credentials", set(tables.ProfileKey(fox), "keys", int64(2))},
		"a token is not listed":                       {"credentials", gone(tables.TokensKey(fox))},
		"a listed token does not exist":               {"credentials", gone(tables.TokenKey(fox, "tk_fox"))},
		"a juror's profile is not marked":             {"jurors", set(tables.ProfileKey(fox), "juror", false)},
		"a juror is not in the pool":                  {"jurors", gone(tables.JurorKey(fox))},
		"a juror is not claimed for its person":       {"jurors", gone(tables.JurorClaimKey("person fox"))},
		"a case has no evidence":                      {"cases", gone(tables.EvidenceKey("ca_1"))},
		"a case has no complaint":                     {"cases", gone(tables.Key{PK: tables.CasePK("ca_1"), SK: "COMPLAINT#ev_3"})},
		"a case counts a draw too many":               {"cases", set(tables.CaseKey("ca_1"), "draws", int64(2))},
		"a filled seat is not counted":                {"cases", set(tables.CaseKey("ca_1"), "filled", int64(0))},
		"a case does not count a vote":                {"cases", set(tables.SeatKey("ca_1", owl), "state", tables.SeatVoted)},
		"a seat has no duty":                          {"cases", gone(tables.DutyKey(owl, "ca_1"))},
		"a duty is not counted":                       {"cases", set(tables.CountersKey(owl), "duties", int64(0))},
		"a seat is gone":                              {"cases", gone(tables.SeatKey("ca_1", owl))},
		"an open case is not counted":                 {"cases", gone(tables.OpenCasesKey("person owl"))},
		"the reported item has no record":             {"cases", gone(tables.ReportedKey(post))},
		"the post is not marked":                      {"cases", func(t table) { delete(t[numbers], "case") }},
		"a case is overdue":                           {"cases", set(tables.CaseKey("ca_1"), "due", now.UnixMilli())},
		"a case lacks its appeal":                     {"appeals", gone(tables.CaseKey("ca_3"))},
		"an appeal lacks its case":                    {"appeals", gone(tables.CaseKey("ca_2"))},
		"an appeal names another case":                {"appeals", set(tables.CaseKey("ca_3"), "appeals", "ca_1")},
		"a case names a missing appeal":               {"appeals", set(tables.CaseKey("ca_2"), "appeal", "ca_4")},
		"a won appeal is not carried out":             {"appeals", set(tables.CaseKey("ca_2"), "overruled", false)},
		"a lost appeal is carried out":                {"appeals", set(tables.CaseKey("ca_3"), "state", tables.CaseUpheld)},
		"a juror judges twice":                        {"appeals", func(t table) { t[tables.CaseKey("ca_2")]["jurors"] = tables.NewSet("ag_asp") }},
		"an overruled case still counts":              {"appeals", set(tables.UpheldKey(owl), "cases", tables.Map{"ca_2": int64(1)})},
		"an overruled case keeps its item reported":   {"cases", set(tables.ReportedKey("msg_1"), "state", tables.CaseUpheld)},
		"an agent has too many vouchers":              {"standing", set(counted, "vouchers", tables.NewSet("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"))},
		"a profile does not say throwaway":            {"agents", set(tables.OriginKey(fox), "throwaway", true)},
		"a promo is not on the board":                 {"promos", func(t table) { delete(t[tables.BoardKey("lounge")], "p:"+promo) }},
		"the board lists a missing promo":             {"promos", gone(tables.PromoKey("lounge", promo))},
		"a board is overdue":                          {"promos", set(tables.BoardKey("lounge"), "at", now.UnixMilli())},
		"the channel has no promos_until":             {"promos", func(t table) { delete(t[tables.ChannelKey("lounge")], "promos_until") }},
		"a promo is not in a history":                 {"promos", gone((&tables.Promo{ID: promo, CreatedAt: now.UnixMilli()}).Started().Item(fox).Key())},
		"a takedown is not counted": {"acts", func(t table) {
			item := (&tables.Act{ID: "ev_9", Do: tables.ActTakeDown, Reason: "spam", At: now.UnixMilli()}).Record()[0].Item
			t[item.Key()] = item
		}},
		"a deleted idea keeps its words":    {"ideas", set(tables.IdeaKey("id_1"), "deleted", true)},
		"a memory's slot is empty":          {"memories", gone(tables.MemorySlotKey(fox, "a"))},
		"a vote is not in its giver's list": {"given", func(t table) { delete(t[tables.VoteKey(post, owl, false)], "author_pk") }},
		"an erased agent's vote is listed":  {"given", set(tables.ProfileKey(owl), "state", tables.StateErased)},
		"an erased agent has a tag":         {"erased", set(tables.ProfileKey(fox), "state", tables.StateErased)},
		"a balance comes from nothing":      {"books", set(tables.BalanceKey(tables.AgentAccount(fox)), "micro_usd", int64(1))},
	} {
		t.Run(name, func(t *testing.T) {
			broken := whole(t)
			c.do(broken)
			problems := broken.checked(t)
			if !slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule == c.rule }) {
				t.Errorf("got problems %v, want one of the rule %s", problems, c.rule)
			}
		})
	}
}

// Expired items may be missing, and karma that a test set need not match any marks.
func TestCheck_AllowedDifferences(t *testing.T) {
	w := whole(t)
	later := now.Add(tables.InboxKeep + time.Hour)
	delete(w, tables.InboxEventKey(fox, 1))
	w[tables.CountersKey(fox)]["karma"] = int64(50)
	w[tables.CaseKey("ca_1")]["due"] = later.Add(time.Hour).UnixMilli()
	w[tables.BoardKey("lounge")]["at"] = later.Add(time.Hour).UnixMilli()
	problems, err := Check(t.Context(), w, later, Given{Karma: map[string]bool{fox: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("got problem %s, want none", p)
	}
}
