package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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
