package transcripts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentsocial/shared/api"
)

var update = flag.Bool("update", false, "rewrite testdata/spec.md and functions/docs/examples")

const specTable = "testdata/spec.md"

// way is how an endpoint answers a kind of credential.
type way int

const (
	byNobody way = iota // done without a credential
	bySignature
	byToken
	nobodyRefused
	tokenRefused // for its scopes, or because tokens are not accepted
)

// ways returns the ways in which transcripts must show an endpoint with this credential.
func ways(credential string) []way {
	switch {
	case credential == "none":
		return []way{byNobody}
	case credential == "notice":
		return nil
	case strings.HasPrefix(credential, "sig|"):
		return []way{bySignature, byToken, nobodyRefused, tokenRefused}
	}
	return []way{bySignature, nobodyRefused, tokenRefused}
}

func (w way) String() string {
	return [...]string{"done without a credential", "done by a signature", "done by a token", "refused without a credential", "refused to a token"}[w]
}

// seen collects what transcripts showed.
type seen struct {
	mu          sync.Mutex
	over        set                         // scripts that ended
	shown       map[string]string           // statement → script
	ways        map[string]map[way]set      // route → way → scripts
	told        map[string]map[string]set   // route → script → outcomes, by status and code
	members     map[string]set              // route → names of the members of queries and bodies sent to it
	codes       map[api.Code]map[string]set // error code → script → routes
	topics      set                         // topics that have an example
	withoutNext set                         // routes that wrote without suggesting a next call
}

type set = map[string]bool

func newSeen() *seen {
	return &seen{
		over: set{}, shown: map[string]string{}, ways: map[string]map[way]set{}, told: map[string]map[string]set{},
		members: map[string]set{}, codes: map[api.Code]map[string]set{}, withoutNext: set{}, topics: set{},
	}
}

func (s *seen) answer(script, route string, r *Request, a *Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if route == "" {
		route = "none"
	}
	code := api.Code(a.Code())
	if a.Status >= 400 {
		if s.codes[code] == nil {
			s.codes[code] = map[string]set{}
		}
		put(s.codes[code], script, route)
	}
	if s.told[route] == nil {
		s.told[route], s.ways[route] = map[string]set{}, map[way]set{}
	}
	put(s.told[route], script, fmt.Sprint(a.Status, code))
	if w, ok := wayOf(r, a); ok {
		put(s.ways[route], w, script)
	}
	if a.Status >= 300 {
		return
	}
	for _, m := range membersOf(r) {
		put(s.members, route, m)
	}
	_, next := a.At("next")
	if _, path, _ := strings.Cut(route, " "); r.Method != http.MethodGet && strings.HasPrefix(path, "/v1/") && !next {
		s.withoutNext[route] = true
	}
}

func (s *seen) example(topic string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.topics[topic] {
		return fmt.Errorf("the topic %s has another example", topic)
	}
	s.topics[topic] = true
	return nil
}

func (s *seen) end(script string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over[script] = true
}

// wayOf returns how the service answered a request's credential. already_registered counts
// as done, since it comes after authentication.
func wayOf(r *Request, a *Answer) (way, bool) {
	signed, token := r.Header.Get("x-agent-key") != "", strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ")
	done := a.Status < 400 || a.Code() == "already_registered"
	switch code := a.Code(); {
	case done && signed:
		return bySignature, true
	case done && token:
		return byToken, true
	case done:
		return byNobody, true
	case !signed && !token && code == "unauthenticated":
		return nobodyRefused, true
	case token && (code == "scope_missing" || code == "signature_required"):
		return tokenRefused, true
	}
	return 0, false
}

// membersOf returns the names in a request's query, body and form.
func membersOf(r *Request) []string {
	_, raw, _ := strings.Cut(r.Target, "?")
	all, _ := url.ParseQuery(raw) // valid, since the request was done
	var body map[string]json.RawMessage
	if json.Unmarshal(r.Body, &body) != nil && strings.Contains(r.Header.Get("Content-Type"), "form") {
		form, _ := url.ParseQuery(string(r.Body))
		maps.Copy(all, form)
	}
	return append(slices.Collect(maps.Keys(all)), slices.Collect(maps.Keys(body))...)
}

func (s *script) shows(args []string) error {
	if s.held == 0 {
		return fmt.Errorf("there was no check since the last command \"shows\"")
	}
	s.held = 0
	for _, name := range args {
		if !slices.ContainsFunc(promises(), func(p promise) bool { return p.name == name && !p.endpoint() }) {
			return fmt.Errorf("spec.txt has no line %s", name)
		}
		if s.seen == nil {
			continue
		}
		s.seen.mu.Lock()
		other := s.seen.shown[name]
		s.seen.shown[name] = s.name()
		s.seen.mu.Unlock()
		if other != "" {
			return fmt.Errorf("%s already shows %s", other, name)
		}
	}
	return nil
}

func (s *script) name() string { return s.ts.Name() }

// hold checks, if all scripts passed, that they show every part of the specification and
// every example, and that testdata/spec.md says which script shows what.
func (s *seen) hold(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(scripts, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if t.Failed() || len(s.over) < len(files) { // a script failed, or only some were played
		return
	}
	for _, w := range s.lacks() {
		t.Error(w)
	}
	kept, err := filepath.Glob(filepath.Join(examples, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		if topic := strings.TrimSuffix(filepath.Base(file), ".md"); !s.topics[topic] {
			t.Errorf("no transcript has the example functions/docs/examples/%s.md: add \"example %[1]s\" to a script of local/testdata, or remove the file", topic)
		}
	}
	if t.Failed() { // the table would be incomplete
		return
	}
	got := s.table()
	if *update {
		if err := os.WriteFile(specTable, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(specTable)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("local/transcripts/%s differs from what the transcripts show: run make golden and read its diff", specTable)
	}
}

// lacks returns failure messages, such as for each part of the specification that no
// transcript showed.
func (s *seen) lacks() (all []string) {
	lack := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for _, p := range promises() {
		switch {
		case !p.endpoint() && s.shown[p.name] == "" && beyond[p.name] == "":
			lack("nothing shows %s: show it in a script of local/testdata, or name a test in the map beyond of local/transcripts/spec_test.go: %s", p.name, p.words)
		case !p.endpoint() && s.shown[p.name] != "" && beyond[p.name] != "":
			lack("the script %s shows %s: remove it from the map beyond of local/transcripts/spec_test.go: %s", s.shown[p.name], p.name, p.words)
		case p.endpoint():
			for _, w := range ways(p.words) {
				if len(s.ways[p.name][w]) == 0 {
					lack("%s is never %s: do it in a script of local/testdata", p.name, w)
				}
			}
			for _, m := range p.members {
				if !s.members[p.name][m] {
					lack("%s is never sent %s: send it in a script of local/testdata", p.name, m)
				}
			}
		}
	}
	for _, c := range api.Codes {
		if s.codes[c.Code] == nil && unseen[c.Code] == "" {
			lack("no transcript gets the error %s: provoke it in a script of local/testdata", c.Code)
		}
	}
	for _, route := range beside() {
		if len(s.doing(route)) == 0 {
			lack("%s is in no transcript: call it in a script of local/testdata", route)
		}
	}
	for route := range s.withoutNext {
		lack("%s writes, but suggests no next call: add next to its answer", route)
	}
	return all
}

func (s *seen) scriptsOf(c api.Code) set {
	all := set{}
	for script := range s.codes[c] {
		all[script] = true
	}
	return all
}

// doing returns the scripts for which an endpoint did its work.
func (s *seen) doing(route string) set {
	all := set{}
	for _, w := range []way{byNobody, bySignature, byToken} {
		maps.Copy(all, s.ways[route][w])
	}
	return all
}

// table returns the text of testdata/spec.md.
func (s *seen) table() []byte {
	var b bytes.Buffer
	b.WriteString("# The specification, and the transcripts that show it\n\n" +
		"Written by `make golden` from the requests and answers of the scripts in `local/testdata`.\n")
	all := promises()
	for i, p := range all {
		if i == 0 || all[i-1].heading != p.heading {
			fmt.Fprintf(&b, "\n## %s\n\n", p.heading)
			if p.endpoint() {
				b.WriteString("| | done without a credential | by a signature | by a token | refused without a credential | refused to a token |\n|---|---|---|---|---|---|\n")
			} else {
				b.WriteString("| | |\n|---|---|\n")
			}
		} else if all[i-1].endpoint() && !p.endpoint() {
			b.WriteString("\n| | |\n|---|---|\n")
		}
		if !p.endpoint() {
			fmt.Fprintf(&b, "| %s | %s |\n", strings.ToUpper(p.words[:1])+p.words[1:], cmp.Or(link(s.shown[p.name]), beyond[p.name]))
			continue
		}
		fmt.Fprintf(&b, "| `%s` |", p.name)
		for w := byNobody; w <= tokenRefused; w++ {
			cell := ""
			if slices.Contains(ways(p.words), w) {
				cell = link(most(s.ways[p.name][w], s.told[p.name]))
			}
			fmt.Fprintf(&b, " %s |", cell)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## Errors by code\n\n| | | |\n|---|---|---|\n")
	for _, c := range api.Codes {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", c.Code, c.Status, cmp.Or(link(most(s.scriptsOf(c.Code), s.codes[c.Code])), unseen[c.Code]))
	}
	b.WriteString("\n## Endpoints outside the specification\n\n| | |\n|---|---|\n")
	for _, route := range beside() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", route, link(most(s.doing(route), s.told[route])))
	}
	return b.Bytes()
}

func link(script string) string {
	if script == "" {
		return ""
	}
	return fmt.Sprintf("[%s](../../testdata/%[1]s.txtar)", script)
}

// most returns the script in some with the largest set in by.
func most(some set, by map[string]set) (name string) {
	for _, n := range slices.Sorted(maps.Keys(some)) {
		if len(by[n]) > len(by[name]) {
			name = n
		}
	}
	return name
}

func put[K comparable](sets map[K]set, key K, v string) {
	if sets[key] == nil {
		sets[key] = set{}
	}
	sets[key][v] = true
}

func TestLacks_UntilShown(t *testing.T) {
	s := newSeen()
	send := func(r *Request, route string, status int, body string) {
		a := &Answer{Status: status, Header: http.Header{}}
		if err := json.Unmarshal([]byte(body), &a.value); err != nil {
			t.Fatal(err)
		}
		s.answer("tale", route, r, a)
	}
	fox, nobody := http.Header{"X-Agent-Key": {"k"}}, http.Header{}
	const dm, me = "POST /v1/dm/{ref}", "GET /v1/me"
	for _, step := range []struct {
		do   func()
		ends string // reported before the step, and not after it
	}{
		{func() { s.shown["handle"] = "tale" }, "nothing shows handle:"},
		{func() { send(&Request{Method: "GET", Header: fox}, me, 200, `{}`) }, me + " is never done by a signature"},
		{func() { send(&Request{Method: "GET", Header: nobody}, me, 401, `{"error":{"code":"unauthenticated"}}`) }, me + " is never refused without a credential"},
		{func() {
			send(&Request{Method: "GET", Header: http.Header{"Authorization": {"Bearer x"}}}, me, 403, `{"error":{"code":"scope_missing"}}`)
		}, me + " is never refused to a token"},
		{func() { send(&Request{Method: "GET", Header: nobody}, me, 404, `{"error":{"code":"not_found"}}`) }, "no transcript gets the error not_found"},
		{func() { send(&Request{Method: "GET", Header: nobody}, "GET /skill.md", 200, `{}`) }, "GET /skill.md is in no transcript"},
		{func() {
			send(&Request{Method: "POST", Header: fox, Body: []byte(`{"body":"b"}`)}, dm, 201, `{"next":[]}`)
		}, dm + " is never sent body"},
	} {
		is := func() bool {
			return slices.ContainsFunc(s.lacks(), func(w string) bool { return strings.HasPrefix(w, step.ends) })
		}
		before := is()
		if step.do(); !before || is() {
			t.Errorf("%q: reported before %v, after %v; want true, false", step.ends, before, is())
		}
	}
	send(&Request{Method: "POST", Header: fox}, dm, 201, `{}`)
	if all := s.lacks(); !slices.Contains(all, dm+" writes, but suggests no next call: add next to its answer") {
		t.Errorf("a write whose answer has no next: got %v, want it reported", all)
	}
	if got := string(s.table()); !strings.Contains(got, "| `GET /v1/me` |  | [tale](../../testdata/tale.txtar) |") {
		t.Errorf("table: got\n%s\nwant a row of GET /v1/me with its script", got)
	}
}
