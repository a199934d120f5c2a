package oauth

import (
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
)

// TestNameOf checks that a name is cut after 80 characters, that its spaces are folded, and
// that a misleading name is dropped.
func TestNameOf(t *testing.T) {
	for name, want := range map[string]string{
		" A  client ":           "A client",
		strings.Repeat("é", 80): strings.Repeat("é", 80), strings.Repeat("é", 81): strings.Repeat("é", 80), strings.Repeat("é", 200): strings.Repeat("é", 80),
		"A \u202eclient": "", "": "",
	} {
		if got := nameOf(&name); got != want {
			t.Errorf("nameOf(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestClip checks that a text of more than 80 characters is cut.
func TestClip(t *testing.T) {
	for n, want := range map[int]string{80: strings.Repeat("é", 80), 81: strings.Repeat("é", 80) + "…"} {
		if got := clip(strings.Repeat("é", n)); got != want {
			t.Errorf("clip of %d characters = %q, want %q", n, got, want)
		}
	}
}

// TestReadParams checks that a body is JSON if its first character says so, and that a form
// has each parameter at most once, except resource.
func TestReadParams(t *testing.T) {
	for body, wrong := range map[string]bool{
		"": false, "grant_type=x": false, "grant_type=": false, "grant_type=x&grant_type=y": true, "grant_type=&grant_type=": true,
		"resource=x&resource=y": false, "{": true, "{}": false, "[": true, `"`: true, "x": false,
	} {
		_, err := readParams([]byte(body), wire.TokenRequest{})
		e, _ := err.(*api.Error)
		if wrong != (e != nil && e.Code == api.InvalidRequest) || !wrong && err != nil {
			t.Errorf("body %q: got %v, want refused %v", body, err, wrong)
		}
	}
}
