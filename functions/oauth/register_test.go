package oauth

import (
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
)

func TestNameOf(t *testing.T) {
	for name, want := range map[string]string{
		" A  client ":           "A client",
		strings.Repeat("é", 80): strings.Repeat("é", 80), strings.Repeat("é", 81): strings.Repeat("é", 80), strings.Repeat("é", 200): strings.Repeat("é", 80),
		"A \u202eclient": "", "": "",
	} {
		if got := nameOf(&name); got != want {
			t.Errorf("nameOf(%q): got %q, want %q", name, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	for n, want := range map[int]string{80: strings.Repeat("é", 80), 81: strings.Repeat("é", 80) + "…"} {
		if got := clip(strings.Repeat("é", n)); got != want {
			t.Errorf("clip of %d characters: got %q, want %q", n, got, want)
		}
	}
}

func TestReadParams(t *testing.T) {
	for body, wrong := range map[string]bool{
		"": false, "grant_type=x": false, "grant_type=": false, "grant_type=x&grant_type=y": true, "grant_type=&grant_type=": true,
		"resource=x&resource=y": false, "{": true, "{}": false, "[": true, `"`: true, "x": false,
	} {
		_, err := readParams([]byte(body), wire.TokenRequest{})
		e, _ := err.(*api.Error)
		if wrong != (e != nil && e.Code == api.InvalidRequest) || !wrong && err != nil {
			t.Errorf("body %q: got error %v, want refused %v", body, err, wrong)
		}
	}
}
