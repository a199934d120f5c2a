package service_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// ordinary returns a body that matches the schema.
func (s schema) ordinary(schemas map[string]schema) string {
	if s.Ref != "" {
		return schemas[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]].ordinary(schemas)
	}
	if s.Enum != nil {
		return encode(s.Enum[0])
	}
	switch {
	case s.OneOf != nil:
		return s.OneOf[0].ordinary(schemas)
	case s.is("object"):
		var members []string
		for _, name := range s.Required {
			members = append(members, encode(name)+":"+s.Properties[name].ordinary(schemas))
		}
		return "{" + strings.Join(members, ",") + "}"
	case s.is("array"):
		return "[" + s.Items.ordinary(schemas) + "]"
	case s.is("boolean"):
		return "true"
	case s.is("integer"), s.is("number"):
		if s.Minimum != nil {
			return fmt.Sprint(int64(*s.Minimum))
		}
		return "1"
	case s.MinLength != nil:
		return encode(strings.Repeat("x", *s.MinLength))
	}
	return `"x"`
}

// ordinary returns a target and a body that match the operation.
func (o operation) ordinary(schemas map[string]schema) (target, body string) {
	target = braces.ReplaceAllStringFunc(o.Path, func(name string) string {
		switch name {
		case "{ch}":
			return "lounge"
		case "{ref}":
			return "keyed"
		}
		return "x"
	})
	if o.RequestBody != nil {
		body = "x"
		if form, ok := o.RequestBody.Content["application/json"]; ok {
			body = form.Schema.ordinary(schemas)
		}
	}
	return target, body
}

// An endpoint refuses tokens of other scopes with the reason.
func TestScopesOfEveryEndpoint(t *testing.T) {
	t.Parallel()
	doc, err := api.OpenAPI(functions.Groups(&app.App{})...)
	if err != nil {
		t.Fatal(err)
	}
	operations, schemas := parseDocument(t, doc)
	declared := map[string]api.Auth{}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			declared[e.Route] = e.Auth
		}
	}
	r := run(t, unlimited())
	keyed, keyless := r.join("keyed"), r.join("keyless")
	withKey, withoutKey := map[string]string{}, map[string]string{}
	for _, scope := range auth.Scopes {
		withKey[scope] = r.token(keyed, scope)
		withoutKey[scope] = r.token(keyless, scope)
	}
	r.put(tables.Delete(tables.AgentKeyKey(keyless.ID, keyless.Pub())),
		tables.Change(tables.ProfileKey(keyless.ID), tables.SetAttr("keys", int64(0))))

	// DELETE /v1/me comes last, because no token of the agent works after it.
	const last = "DELETE /v1/me"
	slices.SortStableFunc(operations, func(a, b operation) int {
		return cmp.Compare(strings.Count(a.Method+" "+a.Path+"$", last+"$"), strings.Count(b.Method+" "+b.Path+"$", last+"$"))
	})
	refusals := []string{"unauthenticated", "bad_token", "signature_required", "scope_missing"}
	called := 0
	for _, o := range operations {
		route := o.Method + " " + o.Path
		takes := declared[route]
		if !takes.Needed() {
			continue
		}
		target, body := o.ordinary(schemas)
		r.want(r.call(nil, o.Method, target, body), 401, "unauthenticated")
		scopes := slices.Clone(auth.Scopes)
		if route == last {
			scopes = append(slices.DeleteFunc(scopes, func(s string) bool { return s == takes.Scope }), takes.Scope)
		}
		for _, scope := range scopes {
			for _, agent := range []struct {
				name   string
				token  string
				hasKey bool
			}{{"an agent with a key", withKey[scope], true}, {"an agent without a key", withoutKey[scope], false}} {
				called++
				want := ""
				switch {
				case takes.Bearer:
				case takes.Scope == "", takes.Keyless && agent.hasKey:
					want = "signature_required"
				case takes.Scope != scope:
					want = "scope_missing"
				}
				ans := r.bearer(agent.token, o.Method, target, body)
				got := ans.Text("error.code")
				if want == "" && slices.Contains(refusals, got) || want != "" && got != want {
					t.Errorf("%s %.200s with %s of %s: got %d %s, want error %q, or if that is empty, no refusal of the token", route, body, scope, agent.name, ans.Status, ans.Body, want)
				}
				if got == "scope_missing" {
					header := ans.Header.Get("WWW-Authenticate")
					if ans.Text("error.scope") != takes.Scope || !strings.Contains(header, `error="insufficient_scope"`) || !strings.Contains(header, fmt.Sprintf("scope=%q", strings.Join(auth.InOrder([]string{scope, takes.Scope}), " "))) {
						t.Errorf("%s with %s: got %s and WWW-Authenticate %s, want error.scope %s, and insufficient_scope with both scopes in the header", route, scope, ans.Body, header, takes.Scope)
					}
				}
			}
		}
	}
	if called < 15*2*len(auth.Scopes) {
		t.Fatalf("sent %d requests, want at least %d", called, 15*2*len(auth.Scopes))
	}
}
