package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		sent []string
		want bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{`"a"`}, true},
		{[]string{`W/"a"`}, true},
		{[]string{`"b", "a"`}, true},
		{[]string{`"b" , W/"a" ,"c"`}, true},
		{[]string{`"b"`, `"a"`}, true},
		{[]string{"*"}, true},
		{[]string{`a`}, false},
		{[]string{`"A"`}, false},
		{[]string{`"a`}, false},
		{[]string{`w/"a"`}, false},
		{[]string{`"b","c"`}, false},
	} {
		if got := matches(c.sent, `"a"`); got != c.want {
			t.Errorf("If-None-Match %q: %v", c.sent, got)
		}
	}
}

func TestAddressBlock(t *testing.T) {
	for from, want := range map[string]string{
		"203.0.113.7":              "203.0.113.7",
		"203.0.113.7:4711":         "203.0.113.7",
		"::ffff:203.0.113.7":       "203.0.113.7",
		"2001:db8:1:2:3:4:5:6":     "2001:db8:1:2::/64",
		"[2001:db8:1:2::9]:443":    "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::1":     "2001:db8:1:2::/64",
		"2001:db8:1:3::1":          "2001:db8:1:3::/64",
		"fe80::1%eth0":             "fe80::/64",
		"":                         "",
		"not an address":           "not an address",
		"0:0:0:0:0:ffff:cb00:7107": "203.0.113.7",
	} {
		if got := addressBlock(from); got != want {
			t.Errorf("%q counts as %q, not %q", from, got, want)
		}
	}
}

func TestCursor(t *testing.T) {
	for _, positions := range [][]string{{"po_1"}, {"a", "b"}, {"", ""}, {"-", "2026112113#zoë 🦊"}, {strings.Repeat("x", 1000)}} {
		got, err := DecodeCursor(EncodeCursor(positions...), len(positions))
		if err != nil || !slices.Equal(got, positions) {
			t.Errorf("%q became %q, %v", positions, got, err)
		}
	}
	raw := base64.RawURLEncoding.EncodeToString
	for name, cursor := range map[string]string{
		"not base64":      "!",
		"padded":          base64.URLEncoding.EncodeToString([]byte("ab")),
		"other alphabet":  "a+/b",
		"loose bits":      "YQ"[:1] + "R",
		"a newline":       "Y\nQ",
		"not UTF-8":       raw([]byte{0xff}),
		"too many":        EncodeCursor("a", "b"),
		"longer than any": raw([]byte(strings.Repeat("x", cursorMost+1))),
	} {
		_, err := DecodeCursor(cursor, 1)
		var e *Error
		if !errors.As(err, &e) || e.Code != BadCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add("", 1)
	f.Add(EncodeCursor("a", "b"), 2)
	f.Add("YR", 1)
	f.Add("Y\nQ", 1)
	f.Fuzz(func(t *testing.T, cursor string, n int) {
		p, err := DecodeCursor(cursor, n)
		if err != nil {
			if utf8.ValidString(cursor) && !utf8.ValidString(err.Error()) {
				t.Errorf("the refusal is no UTF-8: %q", err)
			}
			return
		}
		if len(p) != n || EncodeCursor(p...) != cursor {
			t.Errorf("%q decodes to %q, which is %q", cursor, p, EncodeCursor(p...))
		}
	})
}

func TestCheckJSON(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "", `null`: "", ` [1, 2.5e3, "x", {"a":{"a":1}}] `: "", `{"a":1,"A":2}`: "", `"\ud83e\udd8a"`: "",
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth): "",
		"":                             "ends in the middle",
		`{"a":`:                        "ends in the middle",
		`[1`:                           "ends in the middle",
		`{"a":1,"a":2}`:                `"a" stands twice`,
		`{"a":1,"\u0061":2}`:           `"a" stands twice`,
		`[{"b":{"":1,"":2}}]`:          `"" stands twice`,
		`{"a":1} x`:                    "something after",
		`{} {}`:                        "something after",
		"\xff":                         "not valid UTF-8",
		"{\"a\":\"\xed\xa0\x80\"}":     "not valid UTF-8",
		`{a:1}`:                        "at byte",
		`[1,]`:                         "at byte",
		`{"a":1,}`:                     "at byte",
		`{,}`:                          "at byte",
		`{"a":"\ud800"}`:               "half of a pair",
		`{"a":"\udd8a\ud83e"}`:         "half of a pair",
		`{"a":"\ud83e\n"}`:             "half of a pair",
		`{"a":"\\ud800 \ud83e\udd8a"}`: "",
		`{"a" 1}`:                      "at byte",
		`01`:                           "something after",
		"\ufeff{}":                     "at byte",
		strings.Repeat("[", 5000):      "levels deep",
		strings.Repeat(`{"a":`, 5000):  "levels deep",
	} {
		err := CheckJSON([]byte(body))
		var e *Error
		switch {
		case want == "" && err != nil, want != "" && (!errors.As(err, &e) || e.Code != BadJSON || !strings.Contains(e.Message, want)):
			t.Errorf("%.60q: %v, want %q", body, err, want)
		}
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":null}]}`, `{"a":1,"a":2}`, `[1,]`, "\xff", `{"a":`, `1e999`, `"\ud800"`, `"\ud83e\udd8a"`, `"\\ud800"`, strings.Repeat("[", 40) + strings.Repeat("]", 40)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		err := CheckJSON(body)
		if sound := json.Valid(body) && utf8.Valid(body); err == nil && !sound {
			t.Errorf("%q passes", body)
		} else if sound && err != nil && !strings.Contains(err.Error(), "stands twice") && !strings.Contains(err.Error(), "levels deep") && !strings.Contains(err.Error(), "half of a pair") {
			t.Errorf("%q is refused: %v", body, err)
		}
		if err != nil && !utf8.ValidString(err.Error()) {
			t.Errorf("%q: the refusal is no UTF-8: %q", body, err)
		}
	})
}

// bounded is an input with numbers that have bounds.
var bounded = func() declared {
	number := func(least, most float64) *huma.Schema {
		return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
	}
	atLeast, atMost := number(0, 0), number(0, 9)
	atLeast.Maximum, atMost.Minimum = nil, nil
	object := func(members map[string]*huma.Schema) *huma.Schema {
		return &huma.Schema{Type: huma.TypeObject, Properties: members}
	}
	return declared{op: &huma.Operation{
		Parameters: []*huma.Param{{In: "query", Name: "limit", Schema: number(1, 1_000_000)}, {In: "query", Name: "since", Schema: atLeast}, {In: "query", Name: "name"}},
		RequestBody: &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Schema: object(map[string]*huma.Schema{
			"usd": number(5, 1_000_000), "in": object(map[string]*huma.Schema{"list": {Type: huma.TypeArray, Items: atMost}}),
		})}}},
	}}
}()

// A refusal lists all that is wrong, and its message names it.
func TestProblemsAreAllListed(t *testing.T) {
	wrong := func(n int) (errs []error) {
		for i := range n {
			errs = append(errs, detail("query."+string(rune('a'+i)), "is wrong"))
		}
		return errs
	}
	for n, want := range map[int]string{
		1: `"a" is wrong.`, 2: `"a" is wrong; also "b".`, 3: `"a" is wrong; also "b", "c".`, 8: `"a" is wrong; also "b", "c", "d", "e", "f" and 2 more.`,
	} {
		if e := fromHuma(422, "", wrong(n), declared{}); len(e.Fields) != n || e.Message != want {
			t.Errorf("%d problems: %+v", n, e)
		}
	}
	e := fromHuma(422, "", append(wrong(1), detail("query.a", "expected length <= 1"), detail("body.x", "unexpected property")), declared{})
	if len(e.Fields) != 3 || e.Message != `"x" is not a member that is known here; also "a".` {
		t.Errorf("%+v", e)
	}
}

// detail is how huma names a problem.
func detail(location, message string) error {
	return &huma.ErrorDetail{Location: location, Message: message}
}

func TestProblemsNameTheirMember(t *testing.T) {
	for _, c := range []struct {
		err            error
		field, problem string
	}{
		{detail("body", "expected required property kind to be present"), "kind", "is missing"},
		{detail("body.a", "expected required property kind to be present"), "a.kind", "is missing"},
		{detail("body.tags[1]", "expected string"), "tags[1]", "expected string"},
		{&huma.ErrorDetail{Location: "query.other", Message: "invalid integer", Value: "x"}, "other", `is "x"; invalid integer`},
		{&huma.ErrorDetail{Location: "query.limit", Message: "invalid integer", Value: "5.5"}, "limit", `is "5.5"; expected integer from 1 to 1000000`},
		{&huma.ErrorDetail{Location: "query.limit", Message: "invalid integer", Value: "1e3"}, "limit", `is "1e3"; expected integer from 1 to 1000000`},
		{&huma.ErrorDetail{Location: "query.limit", Message: "expected number <= 1e+06", Value: int64(1000001)}, "limit", "is 1000001; expected integer from 1 to 1000000"},
		{detail("query.limit", "required query parameter is missing"), "limit", "is missing; expected integer from 1 to 1000000"},
		{detail("query.name", "required query parameter is missing"), "name", "is missing"},
		{&huma.ErrorDetail{Location: "query.since", Message: "expected number >= 0", Value: int64(-1)}, "since", "is -1; expected integer >= 0"},
		{&huma.ErrorDetail{Location: "query.status", Message: `expected value to be one of "a, b"`, Value: "wanted"}, "status", `is "wanted"; expected value to be one of "a, b"`},
		{&huma.ErrorDetail{Location: "body.usd", Message: "expected number <= 1e+06", Value: 1000001.0}, "usd", "is 1000001; expected integer from 5 to 1000000"},
		{&huma.ErrorDetail{Location: "body.usd", Message: "expected integer", Value: 5.5}, "usd", "is 5.5; expected integer from 5 to 1000000"},
		{&huma.ErrorDetail{Location: "body.usd", Message: "expected integer", Value: "5"}, "usd", `is "5"; expected integer from 5 to 1000000`},
		{&huma.ErrorDetail{Location: "body.in.list[1]", Message: "expected number <= 9", Value: 10.0}, "in.list[1]", "is 10; expected integer <= 9"},
		{&huma.ErrorDetail{Location: "body.v", Message: "expected number <= 1e+06", Value: 1000001.0}, "v", "is 1000001; expected number <= 1000000"},
		{&huma.ErrorDetail{Location: "body.usd", Message: "expected boolean", Value: 5.0}, "usd", "is 5; expected true or false"},
		{&huma.ErrorDetail{Location: "body.title", Message: "expected string", Value: 5.0}, "title", "is 5; expected string"},
		{detail("body", "json: cannot unmarshal number 5.0 into Go struct field .answer of type int64"), "answer", "has a number that does not fit"},
		{detail("body", "json: cannot unmarshal number 1e999 into Go value of type float64"), "request body", "has a number that does not fit"},
	} {
		e := fromHuma(422, "", []error{c.err}, bounded)
		if len(e.Fields) != 1 || e.Fields[0].Field != c.field || !strings.HasPrefix(e.Fields[0].Problem, c.problem) || strings.Contains(e.Message, "Go ") {
			t.Errorf("%v: %+v", c.err, e)
		}
	}
	secret := "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"
	for _, message := range []string{"expected integer", "expected number", "invalid integer", "expected boolean", "expected value to be one of \"a\""} {
		e := fromHuma(422, "", []error{&huma.ErrorDetail{Location: "body.v", Message: message, Value: secret}}, bounded)
		if b, _ := json.Marshal(e.envelope("")); strings.Contains(string(b), secret) {
			t.Errorf("%s: %s", message, b)
		}
	}
	for _, d := range []*huma.ErrorDetail{ // nor text that is not a choice of a few, nor what stands in a header
		{Location: "body.v", Message: "expected string to match pattern x", Value: "hunter2"},
		{Location: "header.x-agent-key", Message: "invalid integer", Value: "hunter2"},
	} {
		e := fromHuma(422, "", []error{d}, bounded)
		if b, _ := json.Marshal(e.envelope("")); strings.Contains(string(b), "hunter2") {
			t.Errorf("%s: %s", d.Message, b)
		}
	}
	e := fromHuma(500, "oops", []error{errors.New(secret)}, bounded)
	if b, _ := json.Marshal(e.envelope("")); e.Code != Internal || strings.Contains(string(b), secret) || !strings.Contains(e.cause.Error(), secret) {
		t.Errorf("an inner error: %s, cause %v", b, e.cause)
	}
}
