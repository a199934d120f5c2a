package transcripts

import (
	_ "embed"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

//go:embed spec.txt
var specText string

// promise is one line of the specification.
type promise struct {
	heading string
	name    string   // of a statement; the route of an endpoint
	words   string   // of a statement; the credential of an endpoint
	members []string // of an endpoint
}

// promises are those of spec.txt, in its order.
func promises() (all []promise) {
	heading := ""
	for line := range strings.Lines(specText) {
		line = strings.TrimSpace(line)
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = h
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if name, words, ok := strings.Cut(line, ": "); ok && !strings.Contains(name, " ") {
			all = append(all, promise{heading, name, words, nil})
			continue
		}
		f := strings.Fields(line)
		all = append(all, promise{heading, f[0] + " " + f[1], f[2], f[3:]})
	}
	return all
}

// endpoint reports whether the line declares one.
func (p *promise) endpoint() bool { return strings.Contains(p.name, " ") }

// authOf is what a credential's name says.
func authOf(credential string) api.Auth {
	if scope, ok := strings.CutPrefix(credential, "sig|bearer:"); ok {
		return api.SigOrBearer(scope)
	}
	if scope, ok := strings.CutPrefix(credential, "sig|keyless:"); ok {
		return api.SigUnlessKeyless(scope)
	}
	return map[string]api.Auth{"none": api.None, "notice": api.None, "sig": api.Sig}[credential]
}

// beyond are statements that no transcript can show, and the tests that do.
var beyond = map[string]string{
	"next":                  "local/transcripts, TestTranscripts",
	"origin-hash":           "local/service, TestAddressesAreNowhere",
	"origin-diverse":        "local/service, TestConflictsOfInterest",
	"oauth-metadata-client": "local/service, TestClientsOfDocuments",
	"oauth-stateless":       "local/service, TestClientsAreNotStored",
}

// unseen are codes of errors that no transcript is told, and the tests that are.
var unseen = map[api.Code]string{
	api.Busy:     "shared/api, TestInnerErrors",
	api.Internal: "shared/api, TestInnerErrors",
}

// TestSpecification: every endpoint of the specification is declared, and takes
// the credentials that it says. What it does not list takes none, but for /mcp,
// of which it speaks in words, and stands among the README's deviations.
func TestSpecification(t *testing.T) {
	endpoints, names := 0, map[string]int{}
	declared := declarations()
	for _, p := range promises() {
		if names[p.name]++; names[p.name] > 1 {
			t.Errorf("%s stands twice", p.name)
		}
		if !p.endpoint() {
			continue
		}
		endpoints++
		got, ok := declared[p.name]
		if !ok {
			t.Errorf("%s is not declared", p.name)
		} else if want := authOf(p.words); got != want || want == api.None && p.words != "none" && p.words != "notice" {
			t.Errorf("%s takes %+v, not %s", p.name, got, p.words)
		}
		delete(declared, p.name)
	}
	if endpoints != 76 {
		t.Errorf("%d endpoints were read, not 76", endpoints)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, deviations, _ := strings.Cut(string(readme), "\n## Deviations from the spec\n")
	for route, got := range declared {
		if _, path, _ := strings.Cut(route, " "); !strings.Contains(deviations, "`"+path+"`") {
			t.Errorf("%s is not in the specification: say under the README's deviations why it is here", route)
		}
		if got != api.None && !(route == "POST /mcp" && got == api.Bearer) {
			t.Errorf("%s is not in the specification, and takes %+v", route, got)
		}
	}
}

// beside are the endpoints that the specification does not list.
func beside() []string {
	all := declarations()
	for _, p := range promises() {
		delete(all, p.name)
	}
	return slices.Sorted(maps.Keys(all))
}

// declarations are the endpoints that there are, and their credentials.
func declarations() map[string]api.Auth {
	all := map[string]api.Auth{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			all[e.Route] = e.Auth
		}
	}
	return all
}
