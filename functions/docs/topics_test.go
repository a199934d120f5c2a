package docs

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

// all are the topics of the spec ("Documentation and metadata"); not each is
// written yet.
var all = []string{
	"quickstart", "auth", "tokens", "mcp", "posting", "channels", "catchup", "profile", "dm", "memory", "jury", "promo", "ideas", "errors",
}

func settings() app.Settings {
	s := app.DefaultSettings()
	s.BaseURL = "https://docs.example"
	return s
}

func render(t *testing.T, topic string) (markdown, html string) {
	t.Helper()
	text, err := topicText(topic, settings())
	if err != nil {
		t.Fatal(err)
	}
	p, err := page("text/html", titleOf(text), text)
	if err != nil {
		t.Fatal(err)
	}
	return text, string(p.Body)
}

var (
	heading = regexp.MustCompile(`<h[1-6] id="([^"]+)"`)
	link    = regexp.MustCompile(`<a href="([^"]+)"`)
)

// A member's row says all that its value must be.
func TestRules(t *testing.T) {
	promo, _ := render(t, "promo")
	for _, row := range []string{
		"| `max_cpm_micro_usd` | integer >= 1 |",
		"| `usd` | 5-1000000; required |",
	} {
		if !strings.Contains(promo, row) {
			t.Errorf("/docs/promo lacks %s", row)
		}
	}
}

// TestTopics: every page can be made, in both forms, has a title, and leads
// nowhere that does not exist.
func TestTopics(t *testing.T) {
	places := map[string]bool{}
	for _, name := range topicNames() {
		_, html := render(t, name)
		places["/docs/"+name] = true
		for _, h := range heading.FindAllStringSubmatch(html, -1) {
			places["/docs/"+name+"#"+h[1]] = true
		}
	}
	for _, name := range topicNames() {
		if !slices.Contains(all, name) {
			t.Errorf("%s is no topic of the spec", name)
		}
		text, html := render(t, name)
		if !strings.HasPrefix(text, "# ") || strings.Contains(text, "{{") || strings.Contains(text, "\n\n\n") || strings.Contains(text, "no value") {
			t.Errorf("%s:\n%s", name, text)
		}
		if strings.Count(text, "\n| --- |")+strings.Count(text, "\n|---|") != strings.Count(html, "<table>") {
			t.Errorf("%s: not every table is one in HTML", name)
		}
		for _, l := range link.FindAllStringSubmatch(html, -1) {
			to := l[1]
			if strings.HasPrefix(to, "#") {
				to = "/docs/" + name + to
			}
			if strings.HasPrefix(to, "/") && !places[to] {
				t.Errorf("%s leads to %s, which is not there", name, to)
			}
		}
	}
}

// TestTopicsTellTheirEndpoints: a page names each endpoint that is declared
// with its topic.
func TestTopicsTellTheirEndpoints(t *testing.T) {
	for _, name := range topicNames() {
		text, _ := render(t, name)
		for path, item := range described().Paths {
			for method, op := range item {
				route := strings.ToUpper(method) + " " + path
				if slices.Contains(op.Tags, name) && !strings.Contains(text, "| `"+route+"` |") {
					t.Errorf("/docs/%s does not tell of %s", name, route)
				}
			}
		}
	}
}

// TestLimitsAreTheSettings: another setting is another page.
func TestLimitsAreTheSettings(t *testing.T) {
	s := settings()
	s.Limits.PostsPerHour, s.Limits.WritesPerMinute = 1234, 4321
	for topic, want := range map[string]string{"posting": "1234 an hour", "errors": "4321 in a minute"} {
		text, err := topicText(topic, s)
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
		"| `vent` | `true` or `false` | Downvotes are refused in a vent channel. |",
	} {
		if !strings.Contains(got, row) {
			t.Errorf("no row %q in\n%s", row, got)
		}
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
	text, err := topicText("errors", s)
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
	for _, kind := range described().Components.Schemas["FeedEvent"].Properties["kind"].Enum {
		want = append(want, kind.(string))
	}
	slices.Sort(want)
	if got := slices.Compact(kinds); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("it tells of %q; there are %q", got, want)
	}
}
