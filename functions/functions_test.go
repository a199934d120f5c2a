package functions

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestGoldenOpenAPI checks that the served document follows the declarations.
func TestGoldenOpenAPI(t *testing.T) {
	want, err := api.OpenAPI(Groups(&app.App{})...)
	if err != nil {
		t.Fatal(err)
	}
	served(t, "docs/openapi.json", want)
}

// TestGoldenTools checks that the served tools follow the declarations.
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

// served compares a served file with the one made from the declarations, or rewrites it.
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

// TestEveryCodeIsDeclaredAndDocumented checks that every declared error code is documented, and
// every documented one declared.
func TestEveryCodeIsDeclaredAndDocumented(t *testing.T) {
	used := map[api.Code]bool{
		api.NoSuchEndpoint: true, api.MethodNotAllowed: true, // answered without an endpoint
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

// TestGroupsWithTheTableHaveTheSecret checks that groups that read the table declare the
// secret: callers without a valid credential are limited by a keyed hash of their address.
func TestGroupsWithTheTableHaveTheSecret(t *testing.T) {
	for _, g := range Groups(&app.App{}) {
		if g.Needs.Has(app.Table) && !g.Needs.Has(app.Secret) {
			t.Errorf("%s declares the table without the secret", g.Name)
		}
	}
}
