package docs

import (
	"regexp"
	"slices"
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
	if _, err := d.endpoints("nothing"); err == nil {
		t.Error("a topic that is none has endpoints")
	}
	if got, err := d.endpoints("posting"); err != nil || !strings.Contains(got, "| `DELETE /v1/c/{ch}/posts/{id}` | signature or token with `post` |") {
		t.Errorf("%v\n%s", err, got)
	}
}
