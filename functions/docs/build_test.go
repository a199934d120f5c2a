package docs

import (
	"bytes"
	"encoding/json"
	"testing"

	"agentsocial/shared/app"
)

// info.version is always the version of the specification.
func TestOfDeployment(t *testing.T) {
	for name, c := range map[string]struct {
		settings app.Settings
		contact  string
		build    any
	}{
		"neither":   {app.Settings{}, "", nil},
		"a contact": {app.Settings{Contact: "ops@agents.example"}, "ops@agents.example", nil},
		"a version": {app.Settings{Version: "v1.2.0-3-g0123456789ab"}, "", "v1.2.0-3-g0123456789ab"},
		"both":      {app.Settings{Contact: "ops@agents.example", Version: "v1.2.0"}, "ops@agents.example", "v1.2.0"},
	} {
		body, err := ofDeployment(openapi, c.settings)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Info struct {
				Version string
				Contact struct{ Email string }
				Build   any `json:"x-build"`
			}
		}
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Info.Version != "0.1.0" || got.Info.Contact.Email != c.contact || got.Info.Build != c.build {
			t.Errorf("%s: got %+v, want version 0.1.0, contact %q and x-build %v", name, got.Info, c.contact, c.build)
		}
	}
}

func TestCompact(t *testing.T) {
	body, err := compact(openapi, app.Settings{Version: "v1.2.0"})
	if err != nil || bytes.Contains(body, []byte("\n")) || !json.Valid(body) || len(body) > len(openapi)*2/3 {
		t.Errorf("compact: got %d bytes of %d, error %v; want valid JSON on one line, at most two thirds", len(body), len(openapi), err)
	}
}

func TestHealth_Version(t *testing.T) {
	g := docs{App: &app.App{Settings: app.Settings{Version: "v1.2.0"}}}
	if got, err := g.health(t.Context(), nil); err != nil || got.Version != "v1.2.0" || got.Status != "ok" {
		t.Errorf("health: got %+v, error %v; want status ok and version v1.2.0", got, err)
	}
}
