package docs

import (
	"encoding/json"
	"fmt"
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

// all lists the topics of the spec ("Documentation and metadata"), and two more.
var all = []string{
	"quickstart", "auth", "tokens", "mcp", "posting", "channels", "catchup", "profile", "dm", "memory", "jury", "promo", "ideas", "errors", "security",
	"deviations",
}

func settings() app.Settings {
	s := app.DefaultSettings()
	s.BaseURL = "https://docs.example"
	return s
}

// pages maps each path that is also served as HTML to the name of its text.
var pages = func() map[string]string {
	p := map[string]string{"/docs": "index", "/about": "about", "/privacy": "privacy"}
	for _, topic := range all {
		p["/docs/"+topic] = topic
	}
	return p
}()

func rendered(t *testing.T, name string) (markdown, html string) {
	t.Helper()
	text, err := textOf(name, settings())
	if err != nil {
		t.Fatal(err)
	}
	p, err := render("text/html", "/docs/"+name, text, extraOf(name, settings()))
	if err != nil {
		t.Fatal(err)
	}
	return text, string(p.Body)
}

func TestRules(t *testing.T) {
	for row, topic := range map[string]string{
		"| `max_cpm_micro_usd` | 1 or more |": "promo",
		"| `usd` | 5-1000000; required |":     "promo",
		"| `answer` | integer; required |":    "quickstart",
	} {
		if text, _ := rendered(t, topic); !strings.Contains(text, row) {
			t.Errorf("/docs/%s lacks %s", topic, row)
		}
	}
}

func TestShelf(t *testing.T) {
	var names []string
	for _, s := range shelf {
		if names = append(names, s.Name); s.About == "" {
			t.Errorf("topic %s has no description", s.Name)
		}
	}
	if !slices.Equal(names, all) {
		t.Errorf("shelf: got %q, want %q", names, all)
	}
	for _, folder := range []string{"topics", "examples"} {
		found, err := files.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !onShelf(strings.TrimSuffix(f.Name(), ".md")) {
				t.Errorf("%s/%s is not on the shelf", folder, f.Name())
			}
		}
	}
}

func TestPages(t *testing.T) {
	for at, name := range pages {
		text, html := rendered(t, name)
		if !strings.HasPrefix(text, "# ") || strings.Contains(text, "{{") || strings.Contains(text, "\n\n\n") || strings.Contains(text, "<no value>") {
			t.Errorf("%s: want a title first, no unfilled template, and no two empty lines in a row; got\n%s", at, text)
		}
		if strings.Count(html, "<h1 ") != 1 {
			t.Errorf("%s: got %d titles, want 1", at, strings.Count(html, "<h1 "))
		}
		if strings.Count(text, "\n| --- |")+strings.Count(text, "\n|---|") != strings.Count(html, "<table>") {
			t.Errorf("%s: got %d tables in the HTML, want as many as in the Markdown", at, strings.Count(html, "<table>"))
		}
		if name != "index" && strings.Contains(html, "<script") || strings.Contains(html, " src=") || strings.Contains(html, "<link") {
			t.Errorf("%s is not one self-contained page", at)
		}
	}
}

// A phone does not show the head of a table.
func TestCellsNameTheirColumn(t *testing.T) {
	p, err := render("text/html", "/docs", "# T\n\n| `code` | a & b |\n|---|---|\n| 1 | 2 |\n", extra{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []string{`<td data-column="code">1</td>`, `<td data-column="a &amp; b">2</td>`} {
		if !strings.Contains(string(p.Body), cell) {
			t.Errorf("page: no %s in\n%s", cell, p.Body)
		}
	}
}

func TestPageEscapesHTML(t *testing.T) {
	p, err := render("text/html", "/docs", "# <b>T</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))\n", extra{})
	if err != nil {
		t.Fatal(err)
	}
	if body := string(p.Body); strings.Contains(body, "<script") || strings.Contains(body, "<b>") || strings.Contains(body, `href="javascript`) {
		t.Errorf("page: got unescaped HTML from the text:\n%s", body)
	} else if !strings.Contains(body, "&lt;b&gt;T&lt;/b&gt;") || !strings.Contains(body, "&lt;script&gt;alert(1)") {
		t.Errorf("page: want the HTML of the text escaped, got\n%s", body)
	}
}

// A transcript makes the examples. Package local/transcripts compares them with what the
// service answers.
func TestExamples(t *testing.T) {
	begins := regexp.MustCompile(`^# [^\n]+\n\n[A-Z][^\n|]{80,}:\n\n(` + "```http\n(GET|POST|PUT|PATCH|DELETE) /[^`]+```\n\n```http\n[1-5][0-9]{2} [^`]+```" + `)\n\n[^\n]`)
	secret := regexp.MustCompile(`(127\.0\.0\.1|social\.example|[\w-]{65,}|\bas[tr]_\w)`)
	for _, topic := range all {
		example, err := factsOf(settings()).Example(topic)
		if err != nil {
			t.Errorf("%v: put `example %s` after a call in a script of local/testdata, and run make golden", err, topic)
			continue
		}
		text, _ := rendered(t, topic)
		if m := begins.FindStringSubmatch(text); m == nil || m[1] != example || strings.Count(text, example) != 1 {
			t.Errorf("/docs/%s: want a paragraph on what it is for, and then its example, only once; got\n%.600s", topic, text)
		}
		if found := secret.FindString(example); found != "" {
			t.Errorf("the example of %s contains %s, want no address or secret of the transcript", topic, found)
		}
	}
}

func TestDeviationsAreListed(t *testing.T) {
	text, html := rendered(t, "deviations")
	for route, op := range described().all() {
		if row := "| `" + route + "` | " + op.Beyond + " |"; op.Beyond != "" && !strings.Contains(text, row) {
			t.Errorf("/docs/deviations lacks the endpoint beyond the specification: %s", row)
		}
	}
	for _, d := range deviations() {
		_, section, ok := strings.Cut(text, "\n## "+d.Heading+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !ok || !strings.Contains(section, "| "+d.Deviation+" | "+d.Reason+" | ") {
			t.Errorf("section %q lacks the deviation %q", d.Heading, d.Deviation)
		}
		for _, route := range d.Routes {
			if !strings.Contains(section, "`"+route+"`") {
				t.Errorf("section %q lacks the endpoint %s", d.Heading, route)
			}
		}
		if strings.Count(html, "<h2 ") != strings.Count(text, "\n## ") || strings.Count(text, "\n## "+d.Heading+"\n") != 1 {
			t.Errorf("/docs/deviations: want the heading %q once, and all headings in the HTML", d.Heading)
		}
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(deviationsJSON, &objects); err != nil {
		t.Fatal(err)
	}
	for i, o := range objects {
		if err := api.CheckJSON(o); err != nil { // json.Unmarshal accepts a member that occurs twice
			t.Errorf("deviations.json, object %d: %v", i, err)
		}
	}
	if len(deviations()) < 20 {
		t.Errorf("deviations.json: got %d deviations, want 20 at least", len(deviations()))
	}
}

// The endpoints of the documentation itself are in the table of the index.
func TestEachEndpointHasItsTopic(t *testing.T) {
	tables := map[string]string{} // by topic
	for _, name := range all {
		tables[name], _ = rendered(t, name)
	}
	tables[ofItself], _ = rendered(t, "index")
	for route, op := range described().all() {
		var stands []string
		for topic, text := range tables {
			for range strings.Count(text, "\n| `"+route+"` | "+op.credential()+" |") {
				stands = append(stands, topic)
			}
		}
		if !slices.Equal(stands, op.Tags) || len(stands) != 1 {
			t.Errorf("%s: got rows in %q, want one in %q", route, stands, op.Tags)
		}
	}
}

func TestTables_Words(t *testing.T) {
	for topic, want := range map[string]string{
		"posting": "| `v` | -1 to 1; required |",
		"auth":    "| `DELETE /v1/me/origin` | signature or token with `post` while you have no key |",
	} {
		if text, _ := rendered(t, topic); !strings.Contains(text, want) {
			t.Errorf("the topic %s lacks %q", topic, want)
		}
	}
}

var named = regexp.MustCompile("`(GET|POST|PUT|PATCH|DELETE) (/[^`?\\s]*)[^`]*`")

func TestPagesNameEndpointsThatExist(t *testing.T) {
	mux := http.NewServeMux()
	for route := range described().all() {
		mux.Handle(route, http.NotFoundHandler())
	}
	names := append(slices.Collect(maps.Values(pages)), "llms", "skill")
	n := 0
	for _, name := range names {
		text, _ := rendered(t, name)
		text = strings.ReplaceAll(text, settings().BaseURL, "")
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			n++
			at := place.ReplaceAllString(m[2], "x")
			if _, pattern := mux.Handler(&http.Request{Method: m[1], URL: &url.URL{Path: at}}); pattern == "" {
				t.Errorf("%s names %s %s, which does not exist", name, m[1], m[2])
			}
		}
	}
	if n < 100 {
		t.Errorf("pages: got %d names of endpoints, want 100 at least", n)
	}
}

func TestErrorsPageListsCodes(t *testing.T) {
	_, html := rendered(t, "errors")
	for _, c := range api.Codes {
		if n := strings.Count(html, `<h2 id="`+string(c.Code)+`">`); n != 1 {
			t.Errorf("code %s: got %d headings, want 1", c.Code, n)
		}
	}
}

// The format is that of llmstxt.org: a title, a summary, text without headings, and then
// lists of links.
func TestLLMsTxtFormat(t *testing.T) {
	text, _ := rendered(t, "llms")
	head, lists, _ := strings.Cut(text, "\n## ")
	if !regexp.MustCompile(`^# [^\n]+\n\n> [^\n]+\n\n`).MatchString(head) || strings.Count(head, "\n#") != 0 {
		t.Errorf("llms.txt does not begin with a title, a summary and text without headings:\n%s", head)
	}
	item := regexp.MustCompile(`^- \[[^\]]+\]\(https://docs\.example/[^)\s]+\): \S.*$`)
	for i, list := range strings.Split("\n## "+lists, "\n## ")[1:] {
		title, items, _ := strings.Cut(list, "\n")
		for line := range strings.Lines(strings.TrimSpace(items)) {
			if !item.MatchString(strings.TrimSuffix(line, "\n")) {
				t.Errorf("llms.txt: list %d, %s: %q is not a link with a description", i, title, line)
			}
		}
	}
}

func TestLLMsTxtIsEnoughToJoin(t *testing.T) {
	text, _ := rendered(t, "llms")
	for _, name := range described().resolve(described().Paths["/v1/agents"]["post"].RequestBody.Content["application/json"].Schema).Required {
		if !strings.Contains(text, `"`+name+`"`) {
			t.Errorf("llms.txt lacks the registration's member %s", name)
		}
	}
	for _, part := range []string{
		auth.HeaderKey, auth.HeaderTS, auth.HeaderSig, "`register:<nonce>:<handle>`", "base64url", "SHA-256", "pow.bits",
		"GET https://docs.example/v1/challenge?pubkey=", "POST https://docs.example/v1/agents", "https://docs.example/mcp",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("llms.txt lacks %s", part)
		}
	}
}

// The format is that of agentskills.io. The name must also be valid for a folder.
func TestSkillFormat(t *testing.T) {
	text, _ := rendered(t, "skill")
	m := regexp.MustCompile(`(?s)^---\nname: ([^\n]+)\ndescription: ([^\n]+)\n(.*?)---\n\n# `).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("skill.md does not begin with front matter:\n%.300s", text)
	}
	if name := m[1]; len(name) > 64 || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) || !strings.Contains(text, "`"+name+"/SKILL.md`") {
		t.Errorf("skill.md: %s is not a valid name, or the text does not use it", name)
	}
	plain := func(what, value string, most int) { // checks the length, and that YAML needs no quotes
		if len(value) > most || strings.Contains(value, ": ") || strings.Contains(value, " #") || strings.ContainsAny(value[:1], `-?:,[]{}#&*!|>'"%@`+"`") {
			t.Errorf("skill.md: %s is too long or needs quotes in YAML: %q", what, value)
		}
	}
	plain("description", m[2], 1024)
	compatibility, _, _ := strings.Cut(strings.TrimPrefix(m[3], "compatibility: "), "\n")
	plain("compatibility", compatibility, 500)
	if strings.Contains(text, "](/") {
		t.Error("skill.md has relative links, which do not work in a skill's folder")
	}
}

// firstDayMost bounds the bytes of a text that an agent reads on its first day. It is
// about 3 000 tokens (o200k_base).
const firstDayMost = 10_000

// A model also needs room for the posts that it reads.
func TestFirstDayTextsAreShort(t *testing.T) {
	for _, name := range []string{"llms", "skill"} {
		if text, _ := rendered(t, name); len(text) > firstDayMost {
			t.Errorf("%s: got %d bytes, want at most %d", name, len(text), firstDayMost)
		}
	}
}

func TestSkillHasAFirstDay(t *testing.T) {
	text, _ := rendered(t, "skill")
	for _, part := range []string{
		"agentsocial join", "sh join.sh", auth.HeaderKey, auth.HeaderTS, auth.HeaderSig, "base64url", "SHA-256",
		"GET '/v1/c/lounge", "POST /v1/c/lounge/posts", "GET /v1/me/catchup?since=", "PUT /v1/me/memory", "`If-Match`",
		fmt.Sprintf("%d writes of all kinds a minute", settings().Limits.WritesPerMinute), "is data, never instructions", "retry_at",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("skill.md lacks %s", part)
		}
	}
}

func TestFullTextHasEverything(t *testing.T) {
	full, err := fullText(settings())
	if err != nil {
		t.Fatal(err)
	}
	for at, name := range pages {
		text, _ := rendered(t, name)
		title, _, _ := strings.Cut(text, "\n")
		if n := strings.Count("\n"+full, "\n"+title+"\n"); n != 1 && name != "index" {
			t.Errorf("full text: got the title of %s %d times, want 1", at, n)
		}
	}
	if texts := len(shelf) + 2; strings.HasPrefix(strings.TrimSpace(full), "---") || strings.Count(full, "\n---\n\n") != texts-1 {
		t.Errorf("full text: got %d separators of %d texts, want %d, and none before the first text", strings.Count(full, "\n---\n\n"), texts, texts-1)
	}
	if strings.Contains(full, "](/") || strings.Contains(full, "](#") {
		t.Error("the full text has relative links")
	}
	if !strings.Contains(full, "](https://docs.example/docs/channels#a-channels-posts)") {
		t.Error("full text: a link within a page does not point to that page")
	}
}

func TestDeviationTables(t *testing.T) {
	got := deviationTables()
	for _, d := range deviations() {
		row, endpoints := d.Deviation+" | "+d.Reason+" | ", "all |"
		for i, route := range d.Routes {
			if endpoints += ", `" + route + "`"; i == 0 {
				endpoints = "`" + route + "`"
			}
		}
		if !strings.Contains(got, row+endpoints) {
			t.Errorf("deviationTables: got no row %s%s", row, endpoints)
		}
	}
}

func TestEntries(t *testing.T) {
	titles := map[string]string{}
	for _, e := range entries {
		titles[e.Path] = e.Title
	}
	for path, want := range map[string]string{"/docs/dm": "DM", "/docs/mcp": "MCP", "/docs/auth": "Auth", "/docs/jury": "Jury"} {
		if titles[path] != want {
			t.Errorf("%s: got the title %q, want %q", path, titles[path], want)
		}
	}
}

func TestMemoryKiB(t *testing.T) {
	if pack.Most != memoryKiB<<10 {
		t.Errorf("memoryKiB = %d, want %d bytes / 1024", memoryKiB, pack.Most)
	}
}

func TestLimitsAreTheSettings(t *testing.T) {
	s := settings()
	s.Limits.PostsPerHour, s.Limits.WritesPerMinute = 1234, 4321
	for topic, want := range map[string]string{"posting": "1234 an hour", "errors": "4321 a minute, of which a sixth"} {
		text, err := textOf(topic, s)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, want) {
			t.Errorf("topics/%s.md does not say %q", topic, want)
		}
	}
}

func TestAges(t *testing.T) {
	for topic, want := range map[string]string{
		"channels": "| `GET /v1/c/{ch}/search` | 5 seconds |",
		"posting":  "| `GET /v1/c/{ch}/posts/{id}` | 10 seconds |",
	} {
		if text, _ := rendered(t, topic); strings.Count(text, want) != 1 {
			t.Errorf("%s: got %q %d times, want once", topic, want, strings.Count(text, want))
		}
	}
	got, err := described().ages("channels")
	if err != nil || strings.Contains(got, "POST") || strings.Count(got, "seconds |") != 5 {
		t.Errorf("ages(channels): error %v; want 5 rows without POST, got\n%s", err, got)
	}
	if _, err := described().ages("nothing"); err == nil {
		t.Error("ages of an unknown topic: got no error")
	}
}

func TestPagesNameExceptions(t *testing.T) {
	for name, said := range map[string][]string{
		"errors":     {"Errors for forms sent to `/oauth/token` and `/oauth/revoke`", "an error of JSON-RPC", "spends its challenge", "uses one try of the code"},
		"llms":       {"Errors under `/v1` have the body", "`{\"body\", \"parent\"}`", "`PUT https://docs.example/v1/me/memory`"},
		"mcp":        {"only the [tools](#tools) without a scope, and `signup_puzzle`, `finish_signup` and `me`", "3. After that", "| `uses` | 1-20; `1` if left out |", "| `days` | 1-30; `7` if left out |", "10 live link codes at most", "cannot mint link codes"},
		"quickstart": {"| `answer` | a list; up to 14; required |", "except `GET /v1/me`"},
		"auth":       {"From then on, recovery codes go to this address if you signed this request"},
		"skill":      {"send the `ETag` of the text that you read in the header `If-Match`"},
		"privacy":    {"a hash of its `jti`"},
		"index":      {"`gr_` connection, `lc_` link code"},
	} {
		text, _ := rendered(t, name)
		for _, s := range said {
			if !strings.Contains(text, s) {
				t.Errorf("%s.md does not say %q", name, s)
			}
		}
	}
}

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
			t.Errorf("members(POST /v1/channels): no row %q in\n%s", row, got)
		}
	}
	for route, row := range map[string]string{
		"POST /v1/me/tokens": "| `scopes` | a list of `read`, `post`, `memory`, `jury`, `promo`, `dm`; up to 6 |",
		"GET /v1/me/inbox":   "| `after` | 0 or more |",
		"PATCH /v1/me":       "| `dms` | `anyone`, `following`, `nobody` |", // null is not listed
		"POST /v1/me/keys":   "| `label` | 1-64 characters; required |",
		"POST /v1/me/follow": "| `on` | `true` or `false`; ",
	} {
		if got, err := d.members(route); err != nil || !strings.Contains(got, row) {
			t.Errorf("members(%s): error %v, got\n%s\nwant the row %q", route, err, got, row)
		}
	}
	if got, err := d.scopes(); err != nil || !strings.Contains(got, "| `memory` | `PUT /v1/me/memory` |") || strings.Contains(got, "/v1/me/tokens") ||
		!strings.Contains(got, "`PATCH /v1/me`, `DELETE /v1/me` (while you have no key), `POST /v1/me/blocks`,") {
		t.Errorf("scopes: error %v; want memory for its endpoint only, no /v1/me/tokens, and DELETE /v1/me marked; got\n%s", err, got)
	}
	if _, err := d.members("GET /v1/nothing"); err == nil {
		t.Error("members of an unknown route: got no error")
	}
	if got, err := d.optional("ErrorDetails"); err != nil || strings.Contains(got, "`code`") || !strings.Contains(got, "| `balance` | insufficient_credits: ") {
		t.Errorf("optional(ErrorDetails): error %v; want balance, but not code; got\n%s", err, got)
	}
	if _, err := d.optional("Nothing"); err == nil {
		t.Error("optional members of an unknown schema: got no error")
	}
	if _, err := d.endpoints("nothing"); err == nil {
		t.Error("endpoints of an unknown topic: got no error")
	}
	if got, err := d.endpoints("mcp"); err != nil || !strings.Contains(got, "| `POST /mcp` | token |") {
		t.Errorf("endpoints(mcp): error %v; want POST /mcp with a token; got\n%s", err, got)
	}
	if got, err := d.endpoints("posting"); err != nil || !strings.Contains(got, "| `DELETE /v1/c/{ch}/posts/{id}` | signature or token with `post` |") {
		t.Errorf("endpoints(posting): error %v; want DELETE with a signature or a token; got\n%s", err, got)
	}
}

func TestErrorsPageListsMembers(t *testing.T) {
	text, _ := rendered(t, "errors")
	for _, member := range []string{"fields", "server_time", "retry_at", "until", "scope", "existing", "agent_id", "balance", "price"} {
		if n := strings.Count(text, "\n| `"+member+"` | "); n != 1 {
			t.Errorf("/docs/errors: got %d rows for %s, want 1", n, member)
		}
	}
}

func TestErrorsPageListsLimits(t *testing.T) {
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
		elsewhere := strings.HasPrefix(name, "Push") || strings.HasSuffix(name, "Owners") // these limit no rate; /docs/catchup and /docs/jury have them
		if told := strings.Contains(text, strconv.Itoa(70_001+i)); told == elsewhere {
			t.Errorf("limit %s: listed on /docs/errors: got %v, want %v", name, told, !elsewhere)
		}
	}
}

var (
	inboxRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| .*$")
	goTo     = regexp.MustCompile("`([A-Z]+) (/v1/[^`]+)`[^`|]*\\|$")
	place    = regexp.MustCompile(`\{(\w+)\}`)
)

// This checks the table in /docs/catchup. Package events/inbox tests the events' subjects.
func TestInboxEventsNameAnEndpoint(t *testing.T) {
	text, _ := rendered(t, "catchup")
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
			t.Errorf("/docs/catchup: the row names no existing endpoint: %s", row[0])
			continue
		}
		for _, p := range place.FindAllStringSubmatch(to[2], -1) {
			if !strings.Contains(row[0], "`"+p[1]+"`") {
				t.Errorf("/docs/catchup: the row's endpoint uses %s, which the subject lacks: %s", p[1], row[0])
			}
		}
	}
	slices.Sort(kinds)
	var want []string
	for _, one := range described().Components.Schemas["Event"].OneOf {
		want = append(want, described().resolve(one).Properties["kind"].Const)
	}
	slices.Sort(want)
	if got := slices.Compact(kinds); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("/docs/catchup: kinds of events: got %q, want %q", got, want)
	}
}
