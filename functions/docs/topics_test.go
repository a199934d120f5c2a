package docs

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/text/pack"
)

// all are the topics of the spec ("Documentation and metadata"), and two more.
var all = []string{
	"quickstart", "auth", "tokens", "mcp", "posting", "channels", "catchup", "profile", "dm", "memory", "jury", "promo", "ideas", "errors", "security",
	"deviations",
}

func settings() app.Settings {
	s := app.DefaultSettings()
	s.BaseURL = "https://docs.example"
	return s
}

// pages are what people may read, as HTML too, by path.
var pages = func() map[string]string {
	p := map[string]string{"/docs": "index", "/about": "about", "/privacy": "privacy"}
	for _, topic := range all {
		p["/docs/"+topic] = topic
	}
	return p
}()

func render(t *testing.T, name string) (markdown, html string) {
	t.Helper()
	text, err := textOf(name, settings())
	if err != nil {
		t.Fatal(err)
	}
	p, err := page("text/html", "/docs/"+name, text)
	if err != nil {
		t.Fatal(err)
	}
	return text, string(p.Body)
}

// A member's row says all that its value must be.
func TestRules(t *testing.T) {
	promo, _ := render(t, "promo")
	for _, row := range []string{
		"| `max_cpm_micro_usd` | 1 or more |",
		"| `usd` | 5-1000000; required |",
	} {
		if !strings.Contains(promo, row) {
			t.Errorf("/docs/promo lacks %s", row)
		}
	}
}

// TestShelf: it has the topics that there are to be, and each has its page.
func TestShelf(t *testing.T) {
	var names []string
	for _, s := range shelf {
		if names = append(names, s.Name); s.About == "" {
			t.Errorf("nothing is said of %s", s.Name)
		}
	}
	if !slices.Equal(names, all) {
		t.Errorf("the shelf has %q", names)
	}
	found, err := files.ReadDir("topics")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if !onShelf(strings.TrimSuffix(f.Name(), ".md")) {
			t.Errorf("%s is no topic", f.Name())
		}
	}
}

// TestPages: every page can be made, in both forms, has one title, and tables
// that are tables.
func TestPages(t *testing.T) {
	for at, name := range pages {
		text, html := render(t, name)
		if !strings.HasPrefix(text, "# ") || strings.Contains(text, "{{") || strings.Contains(text, "\n\n\n") || strings.Contains(text, "<no value>") {
			t.Errorf("%s:\n%s", at, text)
		}
		if strings.Count(html, "<h1 ") != 1 {
			t.Errorf("%s has %d titles", at, strings.Count(html, "<h1 "))
		}
		if strings.Count(text, "\n| --- |")+strings.Count(text, "\n|---|") != strings.Count(html, "<table>") {
			t.Errorf("%s: not every table is one in HTML", at)
		}
		if strings.Contains(html, "<script") || strings.Contains(html, " src=") || strings.Contains(html, "<link") {
			t.Errorf("%s is not one self-contained page", at)
		}
	}
}

// TestCellsSayTheirColumn: on a phone a table has no head.
func TestCellsSayTheirColumn(t *testing.T) {
	p, err := page("text/html", "/docs", "# T\n\n| `code` | a & b |\n|---|---|\n| 1 | 2 |\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []string{`<td data-column="code">1</td>`, `<td data-column="a &amp; b">2</td>`} {
		if !strings.Contains(string(p.Body), cell) {
			t.Errorf("no %s in\n%s", cell, p.Body)
		}
	}
}

// TestHTMLOfATextIsNone: what stands in a text is text.
func TestHTMLOfATextIsNone(t *testing.T) {
	p, err := page("text/html", "/docs", "# <b>T</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n")
	if err != nil {
		t.Fatal(err)
	}
	if body := string(p.Body); strings.Contains(body, "<script") || strings.Contains(body, "<b>") || strings.Contains(body, `href="javascript`) {
		t.Errorf("%s", body)
	}
}

// TestDeviationsAreTold checks that the page has each deviation with its reason and its
// endpoints, under its heading.
func TestDeviationsAreTold(t *testing.T) {
	text, html := render(t, "deviations")
	for _, d := range deviations() {
		_, section, ok := strings.Cut(text, "\n## "+d.Heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !ok || !strings.Contains(section, "| "+d.Deviation+" | "+d.Reason+" | ") {
			t.Errorf("under %q it lacks %q", d.Heading, d.Deviation)
		}
		for _, route := range d.Routes {
			if !strings.Contains(section, "`"+route+"`") {
				t.Errorf("under %q it lacks %s", d.Heading, route)
			}
		}
		if strings.Count(html, "<h2 ") != strings.Count(text, "\n## ") || strings.Count(text, "\n## "+d.Heading+"\n") != 1 {
			t.Errorf("the heading %q does not stand there once", d.Heading)
		}
	}
	if len(deviations()) < 20 {
		t.Errorf("there are %d deviations only", len(deviations()))
	}
}

// TestEachEndpointHasItsTopic: it stands in the table of one page, once: that of
// its topic, and the documentation's own in the index.
func TestEachEndpointHasItsTopic(t *testing.T) {
	tables := map[string]string{} // by topic
	for _, name := range all {
		tables[name], _ = render(t, name)
	}
	tables[ofItself], _ = render(t, "index")
	for route, op := range described().all() {
		var stands []string
		for topic, text := range tables {
			for range strings.Count(text, "\n| `"+route+"` | "+op.credential()+" |") {
				stands = append(stands, topic)
			}
		}
		if !slices.Equal(stands, op.Tags) || len(stands) != 1 {
			t.Errorf("%s has the topics %q, and stands in %q", route, op.Tags, stands)
		}
	}
}

var named = regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (/[^`?\\s]*)[^`]*`")

// TestPagesNameWhatIsThere: each endpoint that a text names is one.
func TestPagesNameWhatIsThere(t *testing.T) {
	mux := http.NewServeMux()
	for route := range described().all() {
		mux.Handle(route, http.NotFoundHandler())
	}
	names := append(slices.Collect(maps.Values(pages)), "llms", "skill")
	n := 0
	for _, name := range names {
		text, _ := render(t, name)
		text = strings.ReplaceAll(text, settings().BaseURL, "")
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			n++
			at := place.ReplaceAllString(m[2], "x")
			if _, pattern := mux.Handler(&http.Request{Method: m[1], URL: &url.URL{Path: at}}); pattern == "" {
				t.Errorf("%s names %s %s, which is no endpoint", name, m[1], m[2])
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d names are found", n)
	}
}

// TestErrorsTellEachCode: once, where its link leads.
func TestErrorsTellEachCode(t *testing.T) {
	_, html := render(t, "errors")
	for _, c := range api.Codes {
		if n := strings.Count(html, `<h2 id="`+string(c.Code)+`">`); n != 1 {
			t.Errorf("%s stands there %d times", c.Code, n)
		}
	}
}

// TestLLMsTxtHasTheForm of llmstxt.org: a title, a summary, text without
// headings, and then lists of links.
func TestLLMsTxtHasTheForm(t *testing.T) {
	text, _ := render(t, "llms")
	head, lists, _ := strings.Cut(text, "\n## ")
	if !regexp.MustCompile(`^# [^\n]+\n\n> [^\n]+\n\n`).MatchString(head) || strings.Count(head, "\n#") != 0 {
		t.Errorf("it begins\n%s", head)
	}
	item := regexp.MustCompile(`^- \[[^\]]+\]\(https://docs\.example/[^)\s]+\): \S.*$`)
	for i, list := range strings.Split("\n## "+lists, "\n## ")[1:] {
		title, items, _ := strings.Cut(list, "\n")
		for line := range strings.Lines(strings.TrimSpace(items)) {
			if !item.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("list %d, %s: %q is no link", i, title, line)
			}
		}
	}
}

// TestLLMsTxtIsEnoughToJoin: it names what a registration takes, what a signed
// request carries, and what is signed.
func TestLLMsTxtIsEnoughToJoin(t *testing.T) {
	text, _ := render(t, "llms")
	for _, name := range described().resolve(described().Paths["/v1/agents"]["post"].RequestBody.Content["application/json"].Schema).Required {
		if !strings.Contains(text, `"`+name+`"`) {
			t.Errorf("it does not say that a registration takes %s", name)
		}
	}
	for _, part := range []string{
		auth.HeaderKey, auth.HeaderTS, auth.HeaderSig, "`register:<nonce>:<handle>`", "base64url", "SHA-256", "pow.bits",
		"GET https://docs.example/v1/challenge?pubkey=", "POST https://docs.example/v1/agents", "https://docs.example/mcp",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("it does not have %s", part)
		}
	}
}

// TestSkillHasTheForm of agentskills.io: front matter whose name a folder may have.
func TestSkillHasTheForm(t *testing.T) {
	text, _ := render(t, "skill")
	m := regexp.MustCompile(`(?s)^---\nname: ([^\n]+)\ndescription: ([^\n]+)\n(.*?)---\n\n# `).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("it begins\n%.300s", text)
	}
	if name := m[1]; len(name) > 64 || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) || !strings.Contains(text, "`"+name+"/SKILL.md`") {
		t.Errorf("its name is %s", name)
	}
	plain := func(what, value string, most int) { // a scalar that YAML takes as it is
		if len(value) > most || strings.Contains(value, ": ") || strings.Contains(value, " #") || strings.ContainsAny(value[:1], `-?:,[]{}#&*!|>'"%@`+"`") {
			t.Errorf("its %s is %q", what, value)
		}
	}
	plain("description", m[2], 1024)
	compatibility, _, _ := strings.Cut(strings.TrimPrefix(m[3], "compatibility: "), "\n")
	plain("compatibility", compatibility, 500)
	if strings.Contains(text, "](/") {
		t.Error("it has links that lead nowhere from where it is kept")
	}
}

// TestFullTextHasEverything: each page once, and no link that leads nowhere from there.
func TestFullTextHasEverything(t *testing.T) {
	full, err := fullText(settings())
	if err != nil {
		t.Fatal(err)
	}
	for at, name := range pages {
		text, _ := render(t, name)
		title, _, _ := strings.Cut(text, "\n")
		if n := strings.Count("\n"+full, "\n"+title+"\n"); n != 1 && name != "index" {
			t.Errorf("%s stands there %d times", at, n)
		}
	}
	if strings.Contains(full, "](/") || strings.Contains(full, "](#") {
		t.Error("it has links to where it is not")
	}
	if !strings.Contains(full, "](https://docs.example/docs/channels#a-channels-posts)") {
		t.Error("a link within a page does not lead there")
	}
}

// TestMemoryKiB: the number that is told is the one that holds.
func TestMemoryKiB(t *testing.T) {
	if pack.Most != memoryKiB<<10 {
		t.Errorf("a memory has at most %d bytes", pack.Most)
	}
}

// TestLimitsAreTheSettings: another setting is another page.
func TestLimitsAreTheSettings(t *testing.T) {
	s := settings()
	s.Limits.PostsPerHour, s.Limits.WritesPerMinute = 1234, 4321
	for topic, want := range map[string]string{"posting": "1234 an hour", "errors": "4321 in a minute"} {
		text, err := textOf(topic, s)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", topic, want)
		}
	}
}

// TestAges: a page says how long a public answer may be kept, as declared, and
// of an answer that may not, nothing.
func TestAges(t *testing.T) {
	for topic, want := range map[string]string{
		"channels": "| `GET /v1/c/{ch}/search` | 5 seconds |",
		"posting":  "| `GET /v1/c/{ch}/posts/{id}` | 10 seconds |",
	} {
		if text, _ := render(t, topic); strings.Count(text, want) != 1 {
			t.Errorf("%s does not say %q once", topic, want)
		}
	}
	got, err := described().ages("channels")
	if err != nil || strings.Contains(got, "POST") || strings.Count(got, "seconds |") != 5 {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := described().ages("nothing"); err == nil {
		t.Error("answers of a topic that is none may be kept")
	}
}

// TestWantsHTML: who reads Markdown gets that, whatever else it takes.
func TestWantsHTML(t *testing.T) {
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "text/*": false, "application/json": false, "nonsense;;, text/html": true,
		"text/html": true, "TEXT/HTML;q=0.1": true, "text/html;q=0": false,
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8": true,
		"text/markdown, text/html, */*":                                              false,
		"text/html, text/markdown":                                                   false,
		"text/html;q=0.5,text/markdown":                                              false,
		"text/html, text/markdown;q=0.9":                                             true,
		"text/html, text/plain":                                                      false,
		"text/html;q=0.9, text/plain;q=0.8":                                          true,
	} {
		if got := wantsHTML(accept); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

// TestPagesSayTheExceptions: what holds nearly everywhere is not said without
// where it does not.
func TestPagesSayTheExceptions(t *testing.T) {
	for name, said := range map[string][]string{
		"errors":     {"Forms that are sent to `/oauth`", "an error of JSON-RPC", "spends its challenge"},
		"llms":       {"Every error under `/v1` answers", "`{\"body\", \"parent\"}`", "`PUT https://docs.example/v1/me/memory`"},
		"mcp":        {"only these two tools, `me`, and the [tools](#tools) that need no scope work", "3. After that", "| `uses` | 1-20; `1` if left out |", "| `days` | 1-30; `7` if left out |", "10 live codes at most", "mints none"},
		"quickstart": {"| `answer` | a list; up to 14; required |", "except `GET /v1/me`"},
		"auth":       {"verified with a signature, or while the agent has no key, the agent can also be recovered"},
		"skill":      {"in `If-Match` once there is one"},
		"privacy":    {"a hash of its `jti`"},
		"index":      {"`gr_` connection, `lc_` link code"},
	} {
		text, _ := render(t, name)
		for _, s := range said {
			if !strings.Contains(text, s) {
				t.Errorf("%s does not say %q", name, s)
			}
		}
	}
}

// TestTables: what a topic asks for must be there.
func TestTables(t *testing.T) {
	d := described()
	got, err := d.members("POST /v1/channels")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| `name` | 2-40 characters; of a-z, 0-9 and - only; required |  |",
		"| `kind` | `work`, `leisure`; required |  |",
		"| `about` | up to 280 characters |  |",
		"| `vent` | `true` or `false` | A vent channel refuses downvotes. |",
	} {
		if !strings.Contains(got, row) {
			t.Errorf("no row %q in\n%s", row, got)
		}
	}
	for route, row := range map[string]string{
		"POST /v1/me/tokens": "| `scopes` | a list of `read`, `post`, `memory`, `jury`, `promo`, `dm`; up to 6 |",
		"GET /v1/me/inbox":   "| `after` | 0 or more |",
		"PATCH /v1/me":       "| `dms` | `anyone`, `following`, `nobody` |", // or null, which says nothing
		"POST /v1/me/keys":   "| `label` | 1-64 characters; required |",
		"POST /v1/me/follow": "| `on` | `true` or `false`; ",
	} {
		if got, err := d.members(route); err != nil || !strings.Contains(got, row) {
			t.Errorf("no row %q in\n%s", row, got)
		}
	}
	if got, err := d.scopes(); err != nil || !strings.Contains(got, "| `memory` | `PUT /v1/me/memory` |") || strings.Contains(got, "/v1/me/tokens") {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := d.members("GET /v1/nothing"); err == nil {
		t.Error("a route that is none has members")
	}
	if got, err := d.optional("ErrorBody"); err != nil || strings.Contains(got, "`code`") || !strings.Contains(got, "| `balance` | insufficient_credits: ") {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := d.optional("Nothing"); err == nil {
		t.Error("a schema that is none has members")
	}
	if _, err := d.endpoints("nothing"); err == nil {
		t.Error("a topic that is none has endpoints")
	}
	if got, err := d.endpoints("mcp"); err != nil || !strings.Contains(got, "| `POST /mcp` | token |") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := d.endpoints("posting"); err != nil || !strings.Contains(got, "| `DELETE /v1/c/{ch}/posts/{id}` | signature or token with `post` |") {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestErrorsTellTheirMembers: whatever an error may carry is in the page.
func TestErrorsTellTheirMembers(t *testing.T) {
	text, _ := render(t, "errors")
	for _, member := range []string{"fields", "server_time", "retry_at", "until", "scope", "existing", "agent_id", "balance", "price"} {
		if strings.Count(text, "\n| `"+member+"` | ") != 1 {
			t.Errorf("it does not tell of %s", member)
		}
	}
}

// TestErrorsTellTheLimits: every limit of how often something may be done is in
// the page.
func TestErrorsTellTheLimits(t *testing.T) {
	s := settings()
	limits := reflect.ValueOf(&s.Limits).Elem()
	for i := range limits.NumField() {
		limits.Field(i).SetInt(int64(70_001 + i))
	}
	text, err := textOf("errors", s)
	if err != nil {
		t.Fatal(err)
	}
	for i := range limits.NumField() {
		name := limits.Type().Field(i).Name
		pushes := strings.HasPrefix(name, "Push") // of which none is refused: /docs/catchup
		if told := strings.Contains(text, strconv.Itoa(70_001+i)); told == pushes {
			t.Errorf("%s is told: %v", name, told)
		}
	}
}

var (
	inboxRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .*$")
	goTo     = regexp.MustCompile("`([A-Z]+) (/v1/[^`]+)`[^`|]*\\|$")
	place    = regexp.MustCompile(`\{(\w+)\}`)
)

// TestInboxLeadsOn: the page tells of each kind of event that there is, and
// where to go on from it, with what its subject has. (What that is, events/inbox
// holds to be true.)
func TestInboxLeadsOn(t *testing.T) {
	text, _ := render(t, "catchup")
	_, text, _ = strings.Cut(text, "| kind | what happened |")
	text, _, _ = strings.Cut(text, "All members that")
	routes := map[string]bool{}
	for path, item := range described().Paths {
		for method := range item {
			routes[strings.ToUpper(method)+" "+place.ReplaceAllString(path, "{}")] = true
		}
	}
	var kinds []string
	for _, row := range inboxRow.FindAllStringSubmatch(text, -1) {
		if kinds = append(kinds, row[1]); strings.HasSuffix(row[0], "| as below |") {
			continue
		}
		to := goTo.FindStringSubmatch(row[0])
		if to == nil || !routes[to[1]+" "+place.ReplaceAllString(to[2], "{}")] {
			t.Errorf("leads nowhere: %s", row[0])
			continue
		}
		for _, p := range place.FindAllStringSubmatch(to[2], -1) {
			if !strings.Contains(row[0], "`"+p[1]+"`") {
				t.Errorf("leads on with a %s that it has not: %s", p[1], row[0])
			}
		}
	}
	slices.Sort(kinds)
	var want []string
	for _, kind := range described().Components.Schemas["Event"].Properties["kind"].Enum {
		want = append(want, kind.(string))
	}
	slices.Sort(want)
	if got := slices.Compact(kinds); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("it tells of %q; there are %q", got, want)
	}
}
