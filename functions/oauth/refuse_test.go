package oauth

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
)

func TestDescribed(t *testing.T) {
	for s, want := range map[string]string{
		" ~!#[]": " ~!#[]", "\x1f\x7f\u0080é": "????", `say "a\b"`: `say 'a'b'`, "more…": "more.",
	} {
		if got := described(s); got != want {
			t.Errorf("described(%q): got %q, want %q", s, got, want)
		}
	}
}

func TestStandard_Hint(t *testing.T) {
	do := func(code api.Code) string { info, _ := api.Info(code); return info.Do }
	for _, c := range []struct {
		e    *api.Error
		want string
	}{
		{api.Fail(api.InvalidGrant, "It ended.").WithHint("Sign again."), "It ended. Sign again."},
		{api.Fail(api.InvalidGrant, "It ended."), described("It ended. " + do(api.InvalidGrant))},
		{&api.Error{Code: api.Invalid, Message: "It is wrong."}, "It is wrong."},
	} {
		if got := member(t, standard("https://social.example", c.e), "error_description"); got != c.want {
			t.Errorf("error_description of %s with hint %q: got %q, want %q", c.e.Code, c.e.Hint, got, c.want)
		}
	}
}

func TestRefuseRegistration(t *testing.T) {
	g := oauth{&app.App{}}
	for want, fields := range map[string][]string{
		"invalid_redirect_uri": {"redirect_uris"}, "invalid_client_metadata": {"client_name", "redirect_uris"}, "invalid_client_metadata ": nil,
	} {
		e := &api.Error{Code: api.Invalid, Message: "It is wrong."}
		for _, f := range fields {
			e.Fields = append(e.Fields, wire.FieldProblem{Field: f})
		}
		if got := member(t, g.refuseRegistration(nil, e), "error"); got != strings.TrimSpace(want) {
			t.Errorf("refused fields %v: got error %q, want %q", fields, got, want)
		}
	}
}

func member(t *testing.T, p *api.Page, name string) string {
	t.Helper()
	var body map[string]string
	if err := json.Unmarshal(p.Body, &body); err != nil || p.Status != http.StatusBadRequest {
		t.Fatalf("refusal: got status %d, body %s, error %v; want 400 and JSON", p.Status, p.Body, err)
	}
	return body[name]
}
