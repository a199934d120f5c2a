package functions

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func TestGoldenOpenAPI(t *testing.T) {
	want, err := api.OpenAPI(Groups(&app.App{})...)
	if err != nil {
		t.Fatal(err)
	}
	served(t, "docs/openapi.json", want)
}

func TestGoldenTools(t *testing.T) {
	tools, schemas := api.Tools(Groups(&app.App{})...)
	for golden, v := range map[string]any{"mcp/tools.json": tools, "mcp/schemas.json": schemas} {
		want, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		served(t, golden, want)
	}
}

// An operation's id is the name of its tool, or its Name if it has no tool.
func TestOperationsHaveNames(t *testing.T) {
	routes, form := map[string]string{}, regexp.MustCompile("^[a-z]+(_[a-z]+)*$")
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			id := e.Tool + e.Name
			if !form.MatchString(id) || e.Tool != "" && e.Name != "" {
				t.Errorf("%s: got tool %q, name %q; want one of the two, in lower-case words", e.Route, e.Tool, e.Name)
			}
			if other := routes[id]; other != "" {
				t.Errorf("%s and %s have the same name %q", e.Route, other, id)
			}
			routes[id] = e.Route
		}
	}
}

// This checks the declared links. Package local/checks/contract checks their parameters in
// the service's answers.
func TestLinks(t *testing.T) {
	paths := map[string]string{}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			paths[e.Tool+e.Name] = e.Path()
		}
	}
	n := 0
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			for _, l := range e.Links {
				n++
				var want []string
				for _, m := range regexp.MustCompile("{([a-z]+)}").FindAllStringSubmatch(paths[l.To], -1) {
					want = append(want, m[1])
				}
				if got := slices.Sorted(maps.Keys(l.With)); paths[l.To] == "" || !slices.Equal(got, want) {
					t.Errorf("%s: got a link to %q (path %q) with the parameters %q, want those of the path: %q", e.Route, l.To, paths[l.To], got, want)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("links of all endpoints: got %d, want at least 10", n)
	}
}

// Under /v1, a public read also accepts credentials.
func TestPublicReadsTakeCredentials(t *testing.T) {
	raw, err := api.OpenAPI(Groups(&app.App{})...)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct{ Security []map[string][]string }
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Auth.Needed() {
				continue
			}
			want := "[map[]]"
			if e.Method() == "GET" && strings.HasPrefix(e.Path(), "/v1/") {
				want = "[map[] map[signature:[]] map[bearer:[]]]"
			}
			if got := fmt.Sprint(doc.Paths[e.Path()][strings.ToLower(e.Method())].Security); got != want {
				t.Errorf("%s: got OpenAPI security %s, want %s", e.Route, got, want)
			}
		}
	}
}

func served(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("functions/%s does not follow the declarations: run make golden and read its diff", file)
	}
}

// secrets lists the secret members of answers.
var secrets = []string{"token", "code", "access_token", "refresh_token", "client_id"}

// secretElsewhere lists the endpoints whose answers are secret without such a member.
var secretElsewhere = []string{
	"GET /oauth/authorize", "POST /oauth/authorize", // pages with a code or a sealed form
	"POST /v1/me/credits/checkout",           // the address of a payment
	"GET /v1/me/memory", "GET /v1/me/export", // private data
}

// An answer may be compressed unless Secret is set. The size of a compressed answer tells an
// attacker whether the secret contains text that the attacker sent.
func TestSecretsAreNotCompressed(t *testing.T) {
	b, err := os.ReadFile("docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Ref        string `json:"$ref"`
		Properties map[string]any
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			secret := slices.Contains(secretElsewhere, e.Route)
			for status, answer := range doc.Paths[e.Path()][strings.ToLower(e.Method())].Responses {
				s := answer.Content["application/json"].Schema
				if s.Ref != "" {
					s = doc.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
				}
				for _, name := range secrets {
					if _, has := s.Properties[name]; has && status < "300" {
						secret = true
					}
				}
			}
			if e.Secret != secret {
				t.Errorf("%s: Secret is %v, want %v", e.Route, e.Secret, secret)
			}
		}
	}
}

func TestEveryCodeIsDeclaredAndDocumented(t *testing.T) {
	used := map[api.Code]bool{
		api.NoSuchEndpoint: true, api.MethodNotAllowed: true, api.EdgeRequired: true, // answered without an endpoint
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			for _, c := range e.AllCodes() {
				used[c] = true
				if _, ok := api.Info(c); !ok {
					t.Errorf("%s declares the error %s, which is not documented", e.Route, c)
				}
			}
		}
	}
	for _, c := range api.Codes {
		if !used[c.Code] {
			t.Errorf("the error %s is documented, but no endpoint declares it", c.Code)
		}
	}
}

func TestRoutesAreDeclaredOnce(t *testing.T) {
	seen := map[string]string{}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if other, ok := seen[e.Route]; ok {
				t.Errorf("%s is declared by %s and by %s", e.Route, other, g.Name)
			}
			seen[e.Route] = g.Name
			if e.Doc == "" {
				t.Errorf("%s has no Doc", e.Route)
			}
		}
	}
}

// After a recovery, held endpoints refuse the agent for three days, because the mailbox
// may have been stolen. Safe endpoints are open to a suspended agent.
func TestHolds(t *testing.T) {
	held := []string{
		"POST /v1/me/origin", "POST /v1/me/origin/verify", "DELETE /v1/me/origin", // a change of the mailbox
		"POST /v1/dm/{ref}", "POST /v1/c/{ch}/promos", // the owner's money
		"GET /v1/me/export", "DELETE /v1/me", // all of the agent's data
	}
	safe := []string{
		"DELETE /v1/me/keys/{pubkey}", "DELETE /v1/me/tokens/{id}", "DELETE /v1/me/origin", "DELETE /v1/me", "POST /v1/cases/{id}/appeal",
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if want := slices.Contains(held, e.Route); e.Held != want {
				t.Errorf("%s: refused after a recovery: got %v, want %v", e.Route, e.Held, want)
			}
			if want := slices.Contains(safe, e.Route); e.Safe != want {
				t.Errorf("%s: open to suspended agents: got %v, want %v", e.Route, e.Safe, want)
			}
		}
	}
}

// The specification lacks these endpoints. TestSpecification in local/transcripts checks
// all other endpoints.
func TestScopesBeyond(t *testing.T) {
	want := map[string]api.Auth{
		"DELETE /v1/me/origin": api.SigUnlessKeyless("post"), "DELETE /v1/me": api.SigUnlessKeyless("post"), "GET /v1/me/export": api.SigUnlessKeyless("read"),
		"POST /v1/cases/{id}/appeal": api.SigOrBearer("post"), "POST /mcp": api.Bearer,
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			if e.Beyond != "" && e.Auth != want[e.Route] {
				t.Errorf("%s accepts %+v, want %+v", e.Route, e.Auth, want[e.Route])
			}
		}
	}
}

// Callers without a valid credential are limited by a hash of their network address. The
// secret is the key of this hash.
func TestGroupsWithTheTableHaveTheSecret(t *testing.T) {
	for _, g := range Groups(&app.App{}) {
		if g.Needs.Has(app.Table) && !g.Needs.Has(app.Secret) {
			t.Errorf("group %s declares the table without the secret", g.Name)
		}
	}
}
