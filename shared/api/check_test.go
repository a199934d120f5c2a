package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"pgregory.net/rapid"

	"agentsocial/shared/wire"
)

type bounded struct {
	Limit  int64  `query:"limit" required:"true" minimum:"1" maximum:"1000000"`
	Since  int64  `query:"since" minimum:"0"`
	Name   string `query:"name" required:"true"`
	Status string `query:"status" enum:"a,b"`
	Other  int64  `query:"other"`
	Note   int64  `header:"X-Note"`
	Body   struct {
		Kind   string             `json:"kind"`
		A      struct{ B string } `json:"a,omitempty"`
		Tags   []string           `json:"tags,omitempty" maxItems:"2" minItems:"1"`
		USD    int64              `json:"usd,omitempty" minimum:"5" maximum:"1000000"`
		In     within             `json:"in,omitempty"`
		V      float64            `json:"v,omitempty" maximum:"1000000"`
		On     *bool              `json:"on,omitempty" default:"true"`
		Title  string             `json:"title,omitempty" minLength:"2" maxLength:"4" pattern:"^[a-z]*$"`
		Word   string             `json:"word,omitempty" pattern:"^[a-z]*$" patternDescription:"of a-z only"`
		Mood   string             `json:"mood,omitempty" enum:"good,bad"`
		Answer []int64            `json:"answer,omitempty"`
		Emoji  oneOrMany          `json:"emoji,omitempty"`
		Null   *string            `json:"null" nullable:"true"`
	}
}

type within struct {
	List []int64 `json:"list,omitempty" maximum:"9"`
	Must string  `json:"must,omitempty"`
}

type oneOrMany json.RawMessage

func (*oneOrMany) UnmarshalJSON([]byte) error { return nil }

func (oneOrMany) Schema(huma.Registry) *huma.Schema {
	one, most, chars := 1, 10, 500
	return &huma.Schema{
		Description: "1-10 emoji: a string, or an array of single emoji.",
		OneOf: []*huma.Schema{
			{Type: huma.TypeString, MinLength: &one, MaxLength: &chars},
			{Type: huma.TypeArray, MinItems: &one, MaxItems: &most, Items: &huma.Schema{Type: huma.TypeString}},
		},
	}
}

func boundedInput() *bound {
	e := On(Endpoint{Route: "POST /fish", Pure: true}, Handler[bounded, struct{}](nil))
	return bind(&e, newDocument().Components.Schemas)
}

// wrong returns the refusal of a request. query overrides its valid members limit and name.
func (b *bound) wrong(t *testing.T, query, body string) *Error {
	t.Helper()
	a := &Arguments{query: url.Values{"limit": {"1"}, "name": {"x"}}, header: http.Header{}, body: []byte(body)}
	members, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range members {
		a.query[name] = values
	}
	_, err = b.input(a)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%s %s: got %v, want a refusal", query, body, err)
	}
	return e
}

func TestProblemsAreListed(t *testing.T) {
	list := func(n int) (p problems) {
		for i := range n {
			p.add(string(rune('a'+i)), "is wrong")
		}
		return p
	}
	for n, want := range map[int]string{
		1: `"a" is wrong.`, 2: `"a" is wrong; also "b".`, 3: `"a" is wrong; also "b", "c".`, 8: `"a" is wrong; also "b", "c", "d", "e", "f" and 2 more.`,
	} {
		if e := badFields(list(n).fields); len(e.Fields) != n || e.Message != want {
			t.Errorf("badFields of %d problems: got %d fields and message %q, want %d and %q", n, len(e.Fields), e.Message, n, want)
		}
	}
	p := list(1)
	p.add("a", "expected length <= 1")
	p.addUnknown("x", nil)
	if e := badFields(p.fields); len(e.Fields) != 3 || e.Message != `"x" is not a known member; also "a".` {
		t.Errorf("badFields: got %d fields and message %q, want 3 and the unknown member first", len(e.Fields), e.Message)
	}
	// A refusal lists at most ten problems, unknown members first.
	b := boundedInput()
	many := strings.Repeat("1,", 20_000)
	for _, body := range []string{
		`{"kind":"x","null":null,"tags":[` + many + `1]}`, `{"kind":"x","null":null,"x0":1,"tags":[` + many + `1]}`,
	} {
		if e := b.wrong(t, "", body); len(e.Fields) != problemsMost || len(e.JSON("")) > 4<<10 {
			t.Errorf("%.60s: got %d problems in %d bytes, want %d in at most 4096", body, len(e.Fields), len(e.JSON("")), problemsMost)
		}
	}
	members := map[string]int{"kind": 1}
	for i := range 5_000 {
		members[fmt.Sprint("member", i)] = 1
	}
	body, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	if e := b.wrong(t, "", string(body)); len(e.Fields) != problemsMost || e.Fields[0].Field != "member0" || len(e.JSON("")) > 4<<10 {
		t.Errorf("5000 unknown members: got %d problems in %d bytes, first %q; want %d in at most 4096, first \"member0\"", len(e.Fields), len(e.JSON("")), e.Fields[0].Field, problemsMost)
	}
}

func TestProblemsNameTheirMember(t *testing.T) {
	b := boundedInput()
	for _, c := range []struct{ query, body, field, problem string }{
		{"", `{"null":null}`, "kind", "is missing"},
		{"", `{"kind":"x","null":null,"a":{}}`, "a.B", "is missing"},
		{"", `{"tags":["x",1]}`, "tags[1]", "is 1; expected string"},
		{"other=x", `{}`, "other", `is "x"; expected integer`},
		{"limit=5.5", `{}`, "limit", `is "5.5"; expected integer from 1 to 1000000`},
		{"limit=1e-3", `{}`, "limit", `is "1e-3"; expected integer from 1 to 1000000`},
		{"limit=1000001", `{}`, "limit", "is 1000001; expected integer from 1 to 1000000"},
		{"limit=", `{}`, "limit", "is missing; expected integer from 1 to 1000000"},
		{"name=", `{}`, "name", "is missing"},
		{"since=-1", `{}`, "since", "is -1; expected integer >= 0"},
		{"status=wanted", `{}`, "status", `is "wanted"; expected one of: a, b`},
		{"", `{"usd":1000001}`, "usd", "is 1000001; expected integer from 5 to 1000000"},
		{"", `{"usd":5.5}`, "usd", "is 5.5; expected integer from 5 to 1000000"},
		{"", `{"usd":"5"}`, "usd", `is "5"; expected integer from 5 to 1000000`},
		{"", `{"in":{"list":[1,10]}}`, "in.list[1]", "is 10; expected integer <= 9"},
		{"", `{"v":1000001}`, "v", "is 1000001; expected number <= 1000000"},
		{"", `{"on":5}`, "on", "is 5; expected true or false"},
		{"", `{"title":5}`, "title", "is 5; expected string"},
		{"", `{"title":"a"}`, "title", "has 1 characters; expected length >= 2"},
		{"", `{"title":"aaaaa"}`, "title", "has 5 characters; expected length <= 4"},
		{"", `{"title":"AA"}`, "title", "does not match the pattern ^[a-z]*$"},
		{"", `{"word":"A"}`, "word", "must consist of a-z only"},
		{"", `{"mood":"so so"}`, "mood", `is "so so"; expected one of: good, bad`},
		{"", `{"tags":7}`, "tags", "is 7; expected array"},
		{"", `{"tags":[]}`, "tags", "has 0 elements; expected length >= 1"},
		{"", `{"in":"x"}`, "in", "is a string; expected object"},
		{"", `{"in":{"list[0]":1}}`, "in.list[0]", "is not a known member (known are list, must)"},
		{"", `{"emoji":7}`, "emoji", "is not valid; expected 1-10 emoji: a string, or an array of single emoji"},
		{"", `[]`, "request body", "is an array; expected object"},
		{"", `{"kind":"x","null":null,"answer":[1e30]}`, "answer", "has a number that is out of range"},
		{"", `{"v":1e999}`, "request body", "has a number that is out of range"},
	} {
		e := b.wrong(t, c.query, c.body)
		at := slices.IndexFunc(e.Fields, func(f wire.FieldProblem) bool { return f.Field == c.field })
		if at < 0 || !strings.HasPrefix(e.Fields[at].Problem, c.problem) || strings.Contains(e.Message, "Go ") {
			t.Errorf("query %q, body %s: got fields %v, message %q; want %s: %s, and no Go type in the message", c.query, c.body, e.Fields, e.Message, c.field, c.problem)
		}
	}
	secret := "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"
	for _, member := range []string{"usd", "v", "on", "mood", "title", "word", "in", "tags"} {
		e := b.wrong(t, "", fmt.Sprintf(`{%q:%q}`, member, secret))
		if strings.Contains(string(e.JSON("")), secret) {
			t.Errorf("%s: the refusal repeats the secret: %s", member, e.JSON(""))
		}
	}
	// Text and headers may be secret even if they do not look like it.
	if e := b.wrong(t, "", `{"title":"hunter2","word":"hunter2","tags":"hunter2"}`); strings.Contains(string(e.JSON("")), "hunter2") {
		t.Errorf("title, word and tags: the refusal repeats a value: %s", e.JSON(""))
	}
	_, err := b.input(&Arguments{query: url.Values{}, header: http.Header{"X-Note": {"hunter2"}}, body: []byte(`{}`)})
	if e := AsError(err); len(e.Fields) < 3 || strings.Contains(string(e.JSON("")), "hunter2") {
		t.Errorf("header X-Note: refusal = %s, want at least 3 fields, and not the header's value", e.JSON(""))
	}
	e := AsError(errors.New(secret))
	if e.Code != Internal || strings.Contains(string(e.JSON("")), secret) || !strings.Contains(e.cause.Error(), secret) {
		t.Errorf("AsError of an error without a code = %s, cause %v; want internal with the secret only in the cause", e.JSON(""), e.cause)
	}
}

func TestDefaults(t *testing.T) {
	for body, want := range map[string]bool{`{}`: true, `{"on":null}`: true, `{"on":true}`: true, `{"on":false}`: false} {
		body = strings.Replace(`{"kind":"x","null":null,`+body[1:], ",}", "}", 1)
		in, err := boundedInput().input(&Arguments{query: url.Values{"limit": {"1"}, "name": {"x"}}, header: http.Header{}, body: []byte(body)})
		if err != nil || *in.(*bounded).Body.On != want {
			t.Errorf("%s: got %+v, %v; want on = %v", body, in, err, want)
		}
	}
}

func TestOpenAPI_RefusesRulesThatCheckLacks(t *testing.T) {
	declared := func(e Endpoint) (told any) {
		defer func() { told = recover() }()
		if _, err := OpenAPI(Group{Name: "fish", Endpoints: []Endpoint{e}}); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	if told := declared(On(Endpoint{Route: "POST /fish", Pure: true}, Handler[bounded, struct{}](nil))); told != nil {
		t.Errorf("OpenAPI panicked with %v, want no panic", told)
	}
	type member struct {
		Body struct {
			URL string `json:"url" format:"uri"`
		}
	}
	type query struct {
		N int64 `query:"n" multipleOf:"2"`
	}
	if declared(On(Endpoint{Route: "POST /fish", Pure: true}, Handler[member, struct{}](nil))) == nil || declared(On(Endpoint{Route: "GET /fish"}, Handler[query, struct{}](nil))) == nil {
		t.Error("OpenAPI accepted the rule format or multipleOf, want a panic")
	}
}

func TestCheckAgreesWithHuma(t *testing.T) {
	huma.ValidateStrictCasing = true
	b := boundedInput()
	body := reflect.TypeFor[bounded]().Field(6).Type
	scalar := rapid.OneOf(
		rapid.Just[any](nil), rapid.Map(rapid.Bool(), func(v bool) any { return v }),
		rapid.Map(rapid.SampledFrom([]float64{-1, 0, 0.5, 4, 5, 9, 10, 1_000_000, 1_000_001, 1e300}), func(v float64) any { return v }),
		rapid.Map(rapid.SampledFrom([]string{"", "a", "ab", "abcd", "abcde", "AB", "good", "5", "true"}), func(v string) any { return v }),
	)
	list := rapid.Map(rapid.SliceOfN(scalar, 0, 4), func(v []any) any { return v })
	object := rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"list", "must", "B", "x"}), rapid.OneOf(scalar, list), 0, 3), func(v map[string]any) any { return v })
	names := []string{"x", "Kind"}
	for _, f := range reflect.VisibleFields(body) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	whole := rapid.Map(rapid.MapOfN(rapid.SampledFrom(names), rapid.OneOf(scalar, list, object), 0, 4), func(v map[string]any) any { return v })
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.OneOf(whole, whole, whole, list, scalar).Draw(t, "body")
		if m, ok := v.(map[string]any); ok && rapid.Bool().Draw(t, "complete") {
			m["kind"], m["null"] = "x", nil
		}
		var theirs huma.ValidateResult
		huma.Validate(b.schemas, b.body, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, &theirs)
		ours := problems{schemas: b.schemas}
		if good := ours.check("", b.body, v); good != (len(theirs.Errors) == 0) {
			t.Fatalf("%v: check finds %v, huma finds %v; want problems from both or neither", v, ours.fields, theirs.Errors)
		}
	})
}

func TestFirstNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-c]{0,4}`), 0, 60, rapid.ID[string]).Draw(t, "names")
		keep := func(name string) bool { return !strings.HasPrefix(name, "b") }
		want := slices.DeleteFunc(slices.Sorted(slices.Values(names)), func(name string) bool { return !keep(name) })
		want = want[:min(len(want), problemsMost)]
		if got := firstNames(slices.Values(names), keep); !slices.Equal(got, want) {
			t.Errorf("firstNames(%q) = %q, want %q", names, got, want)
		}
	})
}

func TestRefusalsHaveABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		char := rapid.SampledFrom([]string{"a", "\x01", `"`, `\`, "é", "🦊", "\U000e0001", "\xff", "<"})
		long := rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat(char.Draw(t, "char"), rapid.IntRange(0, 5000).Draw(t, "length"))
		})
		var p problems
		for range rapid.IntRange(1, 20).Draw(t, "fields") {
			if rapid.Bool().Draw(t, "unknown") {
				p.addUnknown(long.Draw(t, "name"), []string{"body", "parent"})
			} else {
				p.add(long.Draw(t, "name"), "%s", long.Draw(t, "problem"))
			}
		}
		for _, e := range []*Error{badFields(p.fields), Fail(Invalid, "%s", long.Draw(t, "message"))} {
			if len(e.Fields) > problemsMost {
				t.Errorf("refusal: got %d fields, want at most %d", len(e.Fields), problemsMost)
			}
			var out wire.ErrorEnvelope
			body := e.JSON("https://social.example")
			if err := json.Unmarshal(body, &out); len(body) > RefusalMost || err != nil || out.Error.Code != "invalid" || out.Error.Hint == "" {
				t.Errorf("refusal: got %d bytes (%v), want at most %d with code and hint: %.200s", len(body), err, RefusalMost, body)
			}
			if len(e.Fields) > 0 && len(out.Error.Fields) == 0 {
				t.Errorf("refusal: got no field, want at least one of %d", len(e.Fields))
			}
		}
	})
}
