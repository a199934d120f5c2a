package transcripts

import (
	_ "embed"
	"encoding/json"
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

// promise is one line of the specification: a statement or an endpoint.
type promise struct {
	heading string
	name    string   // of the statement, or the endpoint's route
	words   string   // of the statement, or the endpoint's credential
	members []string // of the endpoint's input
}

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

func (p *promise) endpoint() bool { return strings.Contains(p.name, " ") }

// authOf returns the [api.Auth] of a credential in spec.txt.
func authOf(credential string) api.Auth {
	if scope, ok := strings.CutPrefix(credential, "sig|bearer:"); ok {
		return api.SigOrBearer(scope)
	}
	if scope, ok := strings.CutPrefix(credential, "sig|keyless:"); ok {
		return api.SigUnlessKeyless(scope)
	}
	return map[string]api.Auth{"none": api.None, "notice": api.None, "sig": api.Sig}[credential]
}

// beyond has, for each statement that no transcript can show, a test that shows it.
var beyond = map[string]string{
	"next":                  "local/transcripts, TestTranscripts",
	"origin-hash":           "local/service, TestAddressesAreNowhere",
	"origin-diverse":        "local/service, TestConflictsOfInterest",
	"oauth-metadata-client": "local/service, TestClientsOfDocuments",
	"oauth-stateless":       "local/service, TestClientsAreNotStored",
}

// unseen has, for each error code that no transcript gets, a test that provokes it.
var unseen = map[api.Code]string{
	api.Busy:     "shared/api, TestInnerErrors",
	api.Internal: "shared/api, TestInnerErrors",
}

const deviationsFile = "functions/docs/deviations.json"

// deviation is one way in which the service differs from the specification.
type deviation struct {
	Heading   string // a heading of spec.txt
	Deviation string
	Reason    string
	Routes    []string // the endpoints concerned; none means all
}

func deviations(t *testing.T) (all []deviation) {
	t.Helper()
	f, err := os.Open("../../" + deviationsFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := json.NewDecoder(f)
	in.DisallowUnknownFields()
	if err := in.Decode(&all); err != nil {
		t.Fatalf("%s: %v", deviationsFile, err)
	}
	return all
}

// Every endpoint of spec.txt is declared with its credentials. Every other endpoint gives a
// reason.
func TestSpecification(t *testing.T) {
	endpoints, names := 0, map[string]int{}
	declared := declarations()
	for _, p := range promises() {
		if names[p.name]++; names[p.name] > 1 {
			t.Errorf("spec.txt has %s twice", p.name)
		}
		if !p.endpoint() {
			continue
		}
		endpoints++
		got, ok := declared[p.name]
		if !ok {
			t.Errorf("%s: in spec.txt, but not declared", p.name)
		} else if want := authOf(p.words); got != want || want == api.None && p.words != "none" && p.words != "notice" {
			t.Errorf("%s: got credentials %+v, want %s as in spec.txt", p.name, got, p.words)
		}
		delete(declared, p.name)
	}
	if endpoints != 76 {
		t.Errorf("spec.txt has %d endpoints, want 76 as in the specification", endpoints)
	}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			switch _, beyond := declared[e.Route]; {
			case beyond && e.Beyond == "":
				t.Errorf("%s is not in the specification: say in Beyond why it exists (functions/%s)", e.Route, g.Name)
			case !beyond && e.Beyond != "":
				t.Errorf("%s is in the specification: remove Beyond (functions/%s)", e.Route, g.Name)
			}
		}
	}
}

func TestDeviations(t *testing.T) {
	headings := set{}
	for _, p := range promises() {
		headings[p.heading] = true
	}
	declared := declarations()
	for _, d := range deviations(t) {
		if d.Deviation == "" || d.Reason == "" {
			t.Errorf("%s: a deviation lacks its text or its reason: %+v", deviationsFile, d)
		}
		if !headings[d.Heading] {
			t.Errorf("%s: spec.txt has no heading %q", deviationsFile, d.Heading)
		}
		for _, r := range d.Routes {
			if _, ok := declared[r]; !ok {
				t.Errorf("%s: %s is not declared", deviationsFile, r)
			}
		}
	}
}

// beside returns the endpoints that the specification does not list.
func beside() []string {
	all := declarations()
	for _, p := range promises() {
		delete(all, p.name)
	}
	return slices.Sorted(maps.Keys(all))
}

func declarations() map[string]api.Auth {
	all := map[string]api.Auth{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			all[e.Route] = e.Auth
		}
	}
	return all
}
