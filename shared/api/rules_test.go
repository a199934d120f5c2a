package api

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
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
		{[]string{"*"}, false},
		{[]string{`*, "a"`}, true},
		{[]string{`a`}, false},
		{[]string{`"A"`}, false},
		{[]string{`"a`}, false},
		{[]string{`w/"a"`}, false},
		{[]string{`"b","c"`}, false},
	} {
		if got := matches(c.sent, `"a"`); got != c.want {
			t.Errorf("matches(%q) = %v, want %v", c.sent, got, c.want)
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
			t.Errorf("addressBlock(%q) = %q, want %q", from, got, want)
		}
	}
}

func TestCursor(t *testing.T) {
	for _, positions := range [][]string{{"po_1"}, {"a", "b"}, {"", ""}, {"-", "2026112113#zoë 🦊"}, {strings.Repeat("x", 1000)}} {
		got, err := DecodeCursor(EncodeCursor(positions...), len(positions))
		if err != nil || !slices.Equal(got, positions) {
			t.Errorf("DecodeCursor(EncodeCursor(%q)) = %q, %v, want the same positions", positions, got, err)
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
			t.Errorf("DecodeCursor of %s: got %v, want bad_cursor", name, err)
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
				t.Errorf("DecodeCursor(%q, %d): the refusal is not UTF-8: %q", cursor, n, err)
			}
			return
		}
		if len(p) != n || EncodeCursor(p...) != cursor {
			t.Errorf("%q decodes to %q, which encodes to %q; want %d positions, and the same cursor", cursor, p, EncodeCursor(p...), n)
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
		`{"a":1,"a":2}`:                `"a" occurs twice`,
		`{"a":1,"\u0061":2}`:           `"a" occurs twice`,
		`[{"b":{"":1,"":2}}]`:          `"" occurs twice`,
		`{"a":1} x`:                    "something after",
		`{} {}`:                        "something after",
		"\xff":                         "not valid UTF-8",
		"{\"a\":\"\xed\xa0\x80\"}":     "not valid UTF-8",
		`{a:1}`:                        "at byte",
		`[1,]`:                         "at byte",
		`{"a":1,}`:                     "at byte",
		`{,}`:                          "at byte",
		`{"a":"\ud800"}`:               "half of a surrogate pair",
		`{"a":"\udd8a\ud83e"}`:         "half of a surrogate pair",
		`{"a":"\ud83e\n"}`:             "half of a surrogate pair",
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
			t.Errorf("CheckJSON(%.60q) = %v, want %q in the error (\"\": no error)", body, err, want)
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
			t.Errorf("CheckJSON(%q) accepted invalid JSON or UTF-8", body)
		} else if sound && err != nil && !strings.Contains(err.Error(), "occurs twice") && !strings.Contains(err.Error(), "levels deep") && !strings.Contains(err.Error(), "half of a surrogate pair") {
			t.Errorf("CheckJSON(%q) = %v, want nil or a refusal of duplicates, depth or surrogates", body, err)
		}
		if err != nil && !utf8.ValidString(err.Error()) {
			t.Errorf("%q: the refusal is not UTF-8: %q", body, err)
		}
	})
}

// measure may count more values than there are.
func TestMeasure(t *testing.T) {
	var values, depth func(v any) int
	values = func(v any) (n int) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				n += values(item)
			}
		case map[string]any:
			for _, item := range v {
				n += values(item)
			}
		}
		return n + 1
	}
	depth = func(v any) (deep int) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				deep = max(deep, depth(item))
			}
			deep++
		case map[string]any:
			for _, item := range v {
				deep = max(deep, depth(item))
			}
			deep++
		}
		return deep
	}
	word := rapid.SampledFrom([]any{1, "x", `a,"[{\`, nil, true, []any{}, map[string]any{}, "]}"})
	var value func(level int) *rapid.Generator[any]
	value = func(level int) *rapid.Generator[any] {
		if level == 0 {
			return word
		}
		return rapid.OneOf(word,
			rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return value(level - 1) }), 0, 4), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom([]string{"a", `"`, "{", ","}), rapid.Deferred(func() *rapid.Generator[any] { return value(level - 1) }), 0, 4), func(v map[string]any) any { return v }))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value(4).Draw(t, "value")
		body, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		n, deep := measure(body)
		if want := values(v); n < want || n > 2*want || deep != depth(v) {
			t.Errorf("measure(%s) = %d, %d; want %d to %d values, depth %d", body, n, deep, want, 2*want, depth(v))
		}
	})
	for body, want := range map[string]string{
		"[" + strings.Repeat("1,", maxMessage-2) + "1]":                   "",
		"[" + strings.Repeat("1,", maxMessage) + "1]":                     "more than 500 values",
		`{"a":"` + strings.Repeat(",[{", 9000) + `"}`:                     "",
		`{"a":"\"` + strings.Repeat(",[{", 9000) + `"}`:                   "",
		`{"a":"x\\",` + strings.Repeat(`"b":[],`, maxMessage) + `"c":1}`:  "more than 500 values",
		strings.Repeat("[", maxDepth+2) + strings.Repeat(",", 9000) + "]": "levels deep",
	} {
		err := CheckJSON([]byte(body))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("CheckJSON(%.60q) = %v, want %q in the error (\"\": no error)", body, err, want)
		}
	}
}
