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

// TestGoldenOpenAPI checks that the served document is made from the declarations.
func TestGoldenOpenAPI(t *testing.T) {
	want, err := api.OpenAPI(Groups(&app.App{})...)
	if err != nil {
		t.Fatal(err)
	}
	served(t, "docs/openapi.json", want)
}

// TestGoldenTools checks that the served tools are made from the declarations.
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

// served compares a served file with what the declarations make, or rewrites it.
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
		t.Errorf("functions/%s is not what the declarations make: run make golden and read its diff", file)
	}
}

// What an endpoint may answer is documented, and what is documented is answered by one.
func TestEveryCodeIsDeclaredAndDocumented(t *testing.T) {
	used := map[api.Code]bool{
		api.NoSuchEndpoint: true, api.MethodNotAllowed: true, // of paths that are none
	}
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			for _, c := range e.AllCodes() {
				used[c] = true
				if _, ok := api.Info(c); !ok {
					t.Errorf("%s may answer %s, which is not documented", e.Route, c)
				}
			}
		}
	}
	for _, c := range api.Codes {
		if !used[c.Code] {
			t.Errorf("%s is documented, and no endpoint declares it", c.Code)
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

// Who shows no credential, or a false one, is limited by its address, whose
// hash needs the secret.
func TestGroupsWithTheTableHaveTheSecret(t *testing.T) {
	for _, g := range Groups(&app.App{}) {
		if g.Needs.Has(app.Table) && !g.Needs.Has(app.Secret) {
			t.Errorf("%s reads the table and does not declare that it needs the secret", g.Name)
		}
	}
}
