package service_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/local/checks/invariants"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app/owned"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/text/pack"
	"agentsocial/tables"
)

// secretWord is in every text of the agent that these tests erase.
const secretWord = "plugh"

// subject is an agent that has done everything that an agent can do.
type subject struct {
	*transcripts.Agent
	traces map[string]string // values that must disappear, by description
	post   string            // reported, with an open case
	opened string            // the open case against post
	closed string            // a closed case against another post
	friend *transcripts.Agent
	idea   string // by a friend, supported by the agent
}

const wombatMail = "wombat@plugh.example"

func marked(format string, args ...any) string {
	return fmt.Sprintf(format, args...) + " " + secretWord
}

func object(members ...any) string {
	m := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		m[members[i].(string)] = members[i+1]
	}
	return encode(m)
}

// settleAll drains the stream and calls three schedules, four times, six minutes apart.
func (c *juryFixture) settleAll() {
	c.t.Helper()
	for range 4 {
		c.drain()
		c.advance(6 * time.Minute)
		for _, name := range []string{"deadlines", "settle", "erase"} {
			c.want(c.call(nil, "POST", "/_local/tick", object("name", name)), 200, "")
		}
	}
	c.drain()
}

// newSubject makes an agent do everything.
func (c *juryFixture) newSubject() *subject {
	c.t.Helper()
	s := &subject{Agent: c.join("wombat.7"), traces: map[string]string{}}
	c.people[s.ID] = s.Agent
	do := func(a *transcripts.Agent, method, target string, status int, members ...any) *transcripts.Answer {
		c.t.Helper()
		sent := ""
		if members != nil {
			sent = object(members...)
		}
		return c.want(c.callRetry(a, method, target, sent), status, "")
	}
	mine := func(method, target string, status int, members ...any) *transcripts.Answer {
		c.t.Helper()
		return do(s.Agent, method, target, status, members...)
	}
	month := c.App.Now().Add(-30 * 24 * time.Hour).UnixMilli()
	c.set(tables.ProfileKey(s.ID), tables.SetAttr("created_at", month))
	friend, voter, other := c.citizen(), c.citizen(), c.citizen()
	s.friend = friend

	// Its credentials.
	c.origin(s.Agent, wombatMail)
	c.vouch(s.Agent)
	second := c.addKey(s.Agent, "second "+secretWord)
	third := c.addKey(s.Agent, "third")
	mine("DELETE", "/v1/me/keys/"+third.Pub(), 200)
	mine("POST", "/v1/me/tokens", 201, "label", marked("my token"), "scopes", []string{"read"})
	mine("POST", "/v1/me/link-codes", 201)
	c.want(c.callRetry(second, "GET", "/v1/me", ""), 200, "")

	// Its texts.
	mine("PATCH", "/v1/me", 200, "bio", marked("bio"), "now", marked("now"), "into", marked("into"), "tags", []string{"mushrooms"})
	for i := range 2 {
		c.want(c.send(s.Signed("PUT", "/v1/me/memory", []byte(marked("memory %d", i)), c.moment())), 200, "")
	}
	s.post = mine("POST", "/v1/c/lounge/posts", 201, "body", marked("a post that is reported")).Text("id")
	first := mine("POST", "/v1/c/lounge/posts", 201, "body", marked("a post with a mention of @%s", friend.Name)).Text("id")
	wrong := mine("POST", "/v1/c/lounge/posts", 201, "body", marked("a post that a jury removes")).Text("id")
	gone := mine("POST", "/v1/c/lounge/posts", 201, "body", marked("a post that it deletes")).Text("id")
	mine("DELETE", "/v1/c/lounge/posts/"+gone, 200)
	question := do(friend, "POST", "/v1/c/lounge/posts", 201, "body", "What do you think?").Text("id")
	mine("POST", "/v1/c/lounge/posts", 201, "body", marked("a reply"), "parent", question)
	answer := do(friend, "POST", "/v1/c/lounge/posts", 201, "body", "An answer.", "parent", first).Text("id")

	// What it did to others, and they to it.
	mine("POST", "/v1/c/lounge/posts/"+question+"/vote", 200, "v", 1)
	mine("POST", "/v1/c/lounge/posts/"+question+"/react", 200, "emoji", "🎉")
	mine("POST", "/v1/c/lounge/posts/"+answer+"/helpful", 200)
	mine("POST", "/v1/c/lounge/posts/"+c.spams(c.newcomer())+"/vote", 200, "v", 1) // vouches for its author
	do(friend, "POST", "/v1/c/lounge/posts/"+first+"/vote", 200, "v", 1)
	do(friend, "POST", "/v1/c/lounge/posts/"+first+"/react", 200, "emoji", "🎉")
	for _, pair := range [][2]*transcripts.Agent{{s.Agent, friend}, {friend, s.Agent}} {
		do(pair[0], "POST", "/v1/me/follow", 200, "kind", "agent", "target", pair[1].Name)
		do(pair[0], "POST", "/v1/agents/"+pair[1].Name+"/visit", 201)
		c.credit(pair[0], 20*usd)
	}
	mine("POST", "/v1/me/follow", 200, "kind", "channel", "target", "golang")
	mine("POST", "/v1/me/blocks", 200, "target", other.Name)
	mine("POST", "/v1/c/lounge/posts", 201, "body", marked("a post that is pushed"))
	c.want(c.send(c.messaging(s.Agent, friend, marked("a message"))), 201, "")
	c.want(c.send(c.messaging(friend, s.Agent, "A message from a friend.")), 201, "")
	c.want(c.send(c.messaging(s.Agent, friend, marked("the newest message"))), 201, "")
	s.idea = do(friend, "POST", "/v1/ideas", 201, "title", "A friend's idea", "body", "It is good.", "force", true).Text("id")
	mine("POST", "/v1/ideas", 201, "title", marked("an idea"), "body", marked("its body"), "force", true)
	mine("POST", "/v1/ideas/"+s.idea+"/support", 200)
	mine("POST", "/v1/channels", 201, "name", "burrow", "kind", "leisure", "about", marked("a channel"))
	c.buy(c.t.(*testing.T), s.Agent, "lounge", marked("a promo"), 5, 2)
	mine("POST", "/v1/me/credits/checkout", 201, "usd", 5)

	// Reports and cases, on every side.
	spam := c.spams(other)
	in := c.want(c.callRetry(s.Agent, "POST", "/v1/c/lounge/posts/"+spam+"/report", object("reason", marked("a reason"))), 201, "").Text("case")
	if in == "null" {
		c.t.Fatal("the report opened no case")
	}
	c.set(tables.OriginKey(s.ID), tables.SetAttr("verified_at", c.item(tables.OriginKey(s.ID)).Int("verified_at")))
	c.volunteers(s.Agent, true)
	c.set(tables.JurorKey(s.ID), tables.SetAttr("since", month))
	c.jurors(2)
	judged := c.spams(other) // its jury has these three jurors
	seated := c.reports(voter, judged)
	c.tick()
	c.want(c.send(c.request(s.Agent, "POST", "/v1/cases/"+seated+"/vote", object("verdict", "overturn", "note", marked("a note")))), 200, "")
	waits := c.spams(voter)
	waiting := c.reports(other, waits)
	c.tick()
	if c.item(tables.SeatKey(waiting, s.ID)).Str("state") != tables.SeatWaits {
		c.t.Fatal("no seat waits for the agent")
	}
	s.opened = c.reports(voter, s.post)
	s.closed = c.reports(other, first)
	c.put(func() []tables.Write {
		var k tables.Case
		if err := tables.Unmarshal(c.item(tables.CaseKey(s.closed)), &k); err != nil {
			c.t.Fatal(err)
		}
		return k.Close(tables.CaseOverturned, c.App.Now(), nil, nil)
	}()...)
	upheld := c.reports(friend, wrong)
	c.put(func() []tables.Write {
		var k tables.Case
		if err := tables.Unmarshal(c.item(tables.CaseKey(upheld)), &k); err != nil {
			c.t.Fatal(err)
		}
		return k.Close(tables.CaseUpheld, c.App.Now(), new(bool), nil)
	}()...)
	mine("POST", "/v1/cases/"+upheld+"/appeal", 201, "reason", marked("an appeal"))
	c.drain()

	origin := c.item(tables.OriginKey(s.ID))
	s.traces = map[string]string{
		"a text": secretWord, "its handle": s.Name, "its key": s.Pub(), "its second key": second.Pub(), "its removed key": third.Pub(),
		"its person": origin.Str("person"), "its domain": origin.Str("domain"), "its address": origin.Str("recovery"), "an interest": "mushrooms",
	}
	for what, trace := range s.traces {
		if trace == "" {
			c.t.Fatalf("the agent has no %s", what)
		}
	}
	return s
}

func (r *running) scan() (items []tables.Item) {
	r.t.Helper()
	err := r.table.(tables.Scanner).Scan(r.t.Context(), func(item tables.Item) error {
		items = append(items, item)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return items
}

// found returns the unexpired items that contain a trace.
func (r *running) found(traces map[string]string) (where []string) {
	r.t.Helper()
	for _, item := range r.scan() {
		words := fmt.Sprint(item)
		if packed, ok := item["packed"].([]byte); ok {
			plain, err := pack.Unpack(packed)
			if err != nil {
				r.t.Fatal(err)
			}
			words += string(plain)
		}
		if ttl := item.Int(tables.AttrTTL); ttl != 0 && ttl <= r.App.Now().Unix() { // TTL may delete it at any moment
			continue
		}
		for what, trace := range traces {
			if strings.Contains(words, trace) {
				where = append(where, fmt.Sprintf("%s: %v", what, item))
			}
		}
	}
	slices.Sort(where)
	return where
}

// After the documented time the table has no text, key or address of an erased agent. The
// claim of its handle and counts of mails stay.
func TestErase_LeavesNothing(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		s := c.newSubject()
		for what := range s.traces {
			if len(r.found(map[string]string{what: s.traces[what]})) == 0 {
				t.Fatalf("%s is not in the table before the agent is erased", what)
			}
		}
		known := map[string]bool{}
		for _, item := range r.scan() {
			typ := item.Str(tables.AttrType)
			known[typ] = true
			k := owned.Kinds[typ]
			for attr := range item {
				if k.Not == "" && !slices.Contains(schemaAttrs, attr) && !slices.Contains(k.Shows, attr) && !slices.Contains(k.Hides, attr) {
					t.Errorf("owned.Kinds neither shows nor hides the attribute %s of a %s", attr, typ)
				}
			}
		}
		followers := r.item(tables.CountersKey(s.friend.ID)).Int("followers")
		ans := r.want(r.call(s.Agent, "DELETE", "/v1/me", ""), 200, "")
		r.has(ans, "erased", s.ID, "handle", s.Name)

		// These effects come at once.
		r.want(r.call(s.Agent, "GET", "/v1/me", ""), 401, "unknown_key")
		r.want(r.call(s.Agent, "DELETE", "/v1/me", ""), 401, "unknown_key")
		for _, target := range []string{"/v1/agents/" + s.ID, "/v1/agents/" + s.Name, "/v1/agents/" + s.ID + "/history", "/v1/agents/" + s.ID + "/visitors"} {
			r.want(r.call(nil, "GET", target, ""), 404, "not_found")
		}
		if a := r.call(nil, "GET", "/v1/tags/mushrooms", ""); strings.Contains(string(a.Body), s.ID) {
			t.Errorf("the erased agent is listed under its tag: %s", a.Body)
		}
		if gone := r.found(map[string]string{"its person": s.traces["its person"]}); slices.ContainsFunc(gone, func(w string) bool { return strings.Contains(w, tables.TypeOrigin) }) {
			t.Errorf("the origin right after the erasure began: got %v, want none", gone)
		}

		c.settleAll()
		r.advance(jury.SeatingFor) // until the open case that the agent reported ends
		c.settleAll()
		r.advance(73 * time.Hour) // until daily quotas, nonces and impressions expire
		c.settleAll()
		allowed := func(where string) bool {
			return strings.HasPrefix(where, "its handle: map[pk:H#"+s.Name) || // the handle stays taken
				strings.HasPrefix(where, "its person: ") && strings.Contains(where, "pk:Q#mail#") // counts of mails
		}
		for _, where := range r.found(s.traces) {
			if !allowed(where) {
				t.Errorf("still in the table: %s", where)
			}
		}
		if item := r.item(tables.ErasureKey(s.ID)); item != nil {
			t.Errorf("the erasure has not ended: %v", item)
		}
		problems, err := invariants.Check(t.Context(), r.table.(tables.Scanner), r.App.Now(), invariants.Given{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			if !strings.Contains(p.What, "names the owner") { // the fixture's origins are not in profiles
				t.Error(p)
			}
		}

		// Others keep their data.
		if got := r.item(tables.CountersKey(s.friend.ID)).Int("followers"); got != followers-1 {
			t.Errorf("followers of the friend: got %d, want %d", got, followers-1)
		}
		r.has(r.call(nil, "GET", "/v1/ideas/"+s.idea, ""), "support", "0")
		a := r.want(r.call(s.friend, "GET", "/v1/dm/"+s.ID, ""), 200, "")
		r.has(a, "with.handle", "", "items.0.body", "", "items.0.deleted", "true", "items.0.from.handle", "", "items.1.body", "A message from a friend.")
		if k := c.read(nil, s.opened); k.State != tables.CaseLapsed || k.Evidence.Text != "" || k.Evidence.SHA256 == "" {
			t.Errorf("the open case: got %+v, want lapsed, without a text, with its hash", k)
		}
		if k := c.read(nil, s.closed); k.State != tables.CaseOverturned || k.Evidence.Text != "" {
			t.Errorf("the closed case: got %+v, want overturned, without a text", k)
		}
		r.want(r.send(r.messaging(s.friend, s.Agent, "Are you there?")), 404, "not_found")
		for _, k := range []string{s.Name, s.ID} {
			r.want(r.call(s.friend, "POST", "/v1/me/follow", object("kind", "agent", "target", k)), 404, "not_found")
		}
		r.noDeadLetters()

		// Its handle is taken, and its key is free.
		again := *s.Agent
		if ans, err := again.Register(r.URL, "🦊"); err != nil || ans.Status != 409 || ans.Text("error.code") != "handle_taken" {
			t.Errorf("registering its handle again: got %d %s, %v; want handle_taken", ans.Status, ans.Body, err)
		}
		again.Name = "wombat8"
		if ans, err := again.Register(r.URL, "🦊"); err != nil || ans.Status != 201 {
			t.Errorf("registering its key again: got %d %s, %v; want 201", ans.Status, ans.Body, err)
		}
	})
}

// Another agent of the same owner cannot repeat an erased agent's report. A report that was
// still waiting is erased with its agent.
func TestErase_OneReportForEachOwner(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		author, first := c.citizen(), c.citizen()
		judged, waits := c.spams(author), c.spams(author)
		in := c.reports(first, judged)
		var k tables.Case
		if err := tables.Unmarshal(c.item(tables.CaseKey(in)), &k); err != nil {
			t.Fatal(err)
		}
		c.put(k.Close(tables.CaseOverturned, c.App.Now(), nil, nil)...)
		c.set(tables.ReportedKey(waits), tables.SetAttr("case", in), tables.SetAttr("state", tables.CaseOverturned),
			tables.SetAttr("heard", int64(jury.ReopenReports)), tables.SetAttr("target", waits), tables.SetAttr("version", int64(1)))
		if in := c.reports(first, waits); in != "null" {
			t.Fatalf("got case %s, want the report to wait", in)
		}
		r.drain()
		r.erases(first)
		c.settleAll()
		person := "person of " + first.ID
		for _, where := range r.found(map[string]string{"its person": person}) {
			t.Errorf("still in the table: %s", where)
		}
		second := c.stranger()
		c.addOrigin(second, person, "")
		a := c.want(c.send(c.reporting(second, judged)), 409, "already_reported")
		r.has(a, "error.existing.case", in)
		a = c.want(c.send(c.reporting(second, waits)), 201, "")
		r.has(a, "needed", fmt.Sprint(jury.ReopenReports-1))
		r.erases(second)
		c.settleAll()
		third := c.stranger()
		c.addOrigin(third, person, "")
		c.want(c.send(c.reporting(third, judged)), 409, "already_reported")
	})
}

// The next sweep hides what the agent published. Requests under way may still write, so the
// erasure goes on even if a pass finds nothing.
func TestErase_BeginsAtOnce(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		fox, nobody := r.join("fox"), r.join("nobody")
		r.credit(fox, 20*usd)
		post := r.want(r.callRetry(fox, "POST", "/v1/c/lounge/posts", object("body", "A post.")), 201, "").Text("id")
		idea := r.want(r.callRetry(fox, "POST", "/v1/ideas", object("title", "An idea", "body", "It is one.", "force", true)), 201, "").Text("id")
		promo := c.buy(t, fox, "lounge", "A promo.", 5, 2).ID
		r.drain()
		r.want(r.call(fox, "DELETE", "/v1/me", ""), 200, "")
		r.want(r.call(nobody, "DELETE", "/v1/me", ""), 200, "")
		r.put(tables.Delete(tables.KeyClaimKey(nobody.Pub())))
		for _, pk := range []string{tables.AgentPK(nobody.ID), tables.QuotaPK(nobody.ID), tables.InboxPK(nobody.ID)} {
			for _, item := range r.query(pk, "", "~") {
				if !slices.Contains([]string{tables.TypeProfile, tables.TypeErasure, tables.TypeInboxHead}, item.Str(tables.AttrType)) {
					r.put(tables.Delete(item.Key()))
				}
			}
		}
		r.want(r.call(nil, "POST", "/_local/tick", object("name", "erase")), 200, "")
		for key, attr := range map[tables.Key]string{
			tables.PostKey("lounge", post): "deleted", tables.IdeaKey(idea): "deleted", tables.PromoKey("lounge", promo): "erased",
		} {
			if item := r.item(key); !item.Bool(attr) {
				t.Errorf("after one sweep: got %v, want it to be %s", item, attr)
			}
		}
		if a := r.call(nil, "GET", "/v1/c/lounge/posts", ""); strings.Contains(string(a.Body), fox.ID) {
			t.Errorf("the channel names the erased agent: %s", a.Body)
		}
		for _, a := range []*transcripts.Agent{fox, nobody} {
			if r.item(tables.ErasureKey(a.ID)) == nil {
				t.Errorf("the erasure of %s ended while its requests may run", a.Name)
			}
		}
		c.settleAll()
		for _, a := range []*transcripts.Agent{fox, nobody} {
			if item := r.item(tables.ErasureKey(a.ID)); item != nil {
				t.Errorf("the erasure of %s has not ended: %v", a.Name, item)
			}
		}
	})
}

// An erasure waits until the payment processor has closed the agent's page for buying
// credits.
func TestErase_ClosesCheckouts(t *testing.T) {
	t.Parallel()
	s := new(countingStripe)
	config := unlimited()
	config.Payments = s.processor()
	r := run(t, config)
	c := newJuryFixture(r)
	fox := r.join("fox")
	page := r.want(r.call(fox, "POST", "/v1/me/credits/checkout", `{"usd": 5}`), 201, "").Text("id")
	r.want(r.call(fox, "DELETE", "/v1/me", ""), 200, "")
	s.fail(2) // a call and its retry
	s.heard()
	c.advance(2 * time.Minute)
	if a := r.call(nil, "POST", "/_local/tick", `{"name":"erase"}`); a.Status == 200 {
		t.Errorf("the first sweep: got %d %s, want a failure", a.Status, a.Body)
	}
	if r.item(tables.CheckoutKey(fox.ID, page)) == nil || r.item(tables.ErasureKey(fox.ID)) == nil {
		t.Error("the checkout or the erasure is gone, though the page is open")
	}
	c.settleAll()
	if asked, _ := s.heard(); asked != 3 {
		t.Errorf("calls to the processor: got %d, want 3", asked)
	}
	if r.item(tables.CheckoutKey(fox.ID, page)) != nil || r.item(tables.ErasureKey(fox.ID)) != nil {
		t.Error("the checkout or the erasure is there, though the page is closed")
	}
}

// schemaAttrs are the attributes that items of any type may have.
var schemaAttrs = []string{
	tables.AttrPK, tables.AttrSK, tables.AttrType, tables.AttrTTL, "rank_pk", "rank_sk", "parent_pk", "parent_sk", "author_pk", "author_sk",
}

func (r *running) exported(a *transcripts.Agent) (items []owned.Item) {
	r.t.Helper()
	var page struct {
		Items      []owned.Item
		More       bool
		NextBefore string `json:"next_before"`
	}
	for target := "/v1/me/export"; ; target = "/v1/me/export?before=" + page.NextBefore {
		ans := r.want(r.callRetry(a, "GET", target, ""), 200, "")
		if len(ans.Body) > 5<<20 {
			r.t.Errorf("got a page of %d bytes, want at most 5 MiB", len(ans.Body))
		}
		page.More, page.NextBefore, page.Items = false, "", nil
		if err := json.Unmarshal(ans.Body, &page); err != nil {
			r.t.Fatal(err)
		}
		items = append(items, page.Items...)
		if !page.More {
			return items
		}
	}
}

// A forged cursor is refused, or continues its caller's export.
func TestExport_ForgedCursor(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, owl := r.join("fox"), r.join("owl")
		part := rapid.OneOf(
			rapid.SampledFrom([]string{"", "x", "~", owl.ID, fox.ID, tables.MessagePrefix, tables.AgentPK(fox.ID), strings.Repeat("x", 1000)}),
			rapid.String(),
		)
		rapid.Check(t, func(rt *rapid.T) {
			place := rapid.OneOf(rapid.Map(rapid.IntRange(-1, 10), strconv.Itoa), part).Draw(rt, "place")
			from := []string{place, part.Draw(rt, "after"), part.Draw(rt, "pk"), part.Draw(rt, "sk")}
			a := r.call(fox, "GET", "/v1/me/export?before="+api.EncodeCursor(from...), "")
			if a.Status != 200 && a.Status != 400 && a.Status != 422 || a.Status == 400 && a.Code() != "bad_cursor" {
				rt.Fatalf("the cursor %q: got %d %s, want 200, 422 or 400 bad_cursor", from, a.Status, a.Body)
			}
		})
		for place := range 5 { // these parts of an export read no index, so their cursors have no index key
			for _, key := range [][]string{{"x", ""}, {"", "x"}, {"x", "x"}} {
				from := append([]string{strconv.Itoa(place), "x"}, key...)
				r.want(r.call(fox, "GET", "/v1/me/export?before="+api.EncodeCursor(from...), ""), 400, "bad_cursor")
			}
		}
	})
}

func TestExport_HasEverything(t *testing.T) {
	t.Parallel()
	onBothStreaming(t, unlimited(), func(t *testing.T, r *running) {
		c := newJuryFixture(r)
		c.t = t
		s := c.newSubject()
		r.want(r.call(nil, "POST", "/_local/tick", `{"name":"deadlines"}`), 200, "")
		r.want(r.call(s.Agent, "GET", "/v1/me/inbox", ""), 200, "") // gives its events their numbers
		got := map[string]int{}
		seen := map[string]bool{}
		all := ""
		for _, item := range r.exported(s.Agent) {
			got[item.Kind]++
			words := encode(item)
			if all += words + "\n"; seen[words] {
				t.Errorf("got twice in the export, want once: %s", words)
			}
			seen[words] = true
		}
		for kind, n := range map[string]int{
			"profile": 1, "counters": 1, "claim": 4, "key": 2, "token": 1, "link_code": 1, "origin": 1, "memory": 1, "memory_slot": 2, "tag": 1,
			"juror": 1, "duty": 1, "follow": 2, "block": 1, "messaging": 1, "conversation": 1, "history": 4, "visit": 2, "balance": 1,
			"post": 4, "idea": 1, "vote": 2, "reactions": 1, "helpful": 1, "support": 1, "report": 1, "complaint": 2, "seat": 2, "case": 4,
			"channel": 1, "promo": 1, "message": 3, "checkout": 1, "inbox_head": 1,
		} {
			if got[kind] != n {
				t.Errorf("%s: got %d, want %d", kind, got[kind], n)
			}
		}
		for _, kind := range []string{"inbox_event", "movement", "used"} {
			if got[kind] == 0 {
				t.Errorf("%s: got none", kind)
			}
		}
		for _, want := range []string{
			"bio plugh", "memory 0 plugh", "memory 1 plugh", "a post that is reported plugh", "a reply plugh", "a message plugh", "A message from a friend.",
			"an idea plugh", "a channel plugh", "a promo plugh", "a reason plugh", "an appeal plugh", "a note plugh", "my token plugh", "mushrooms", s.Pub(),
		} {
			if !strings.Contains(all, want) {
				t.Errorf("the export lacks %q", want)
			}
		}
		for _, what := range []string{"its person", "its domain", "its address"} {
			if strings.Contains(all, s.traces[what]) {
				t.Errorf("the export has the hash of %s", what)
			}
		}
		if got["post"] > 0 && strings.Contains(all, "a post that it deletes") {
			t.Error("the export has a deleted text")
		}
	})
}

func TestErase_DoneBy(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	var got struct {
		At     int64
		DoneBy int64 `json:"done_by"`
	}
	decode(t, r.want(r.call(r.join("wombat"), "DELETE", "/v1/me", ""), 200, ""), &got)
	if got.DoneBy-got.At != (5 * time.Minute).Milliseconds() {
		t.Errorf("got %+v, want 5 minutes between at and done_by", got)
	}
}
