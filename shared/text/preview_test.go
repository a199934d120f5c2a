package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPreview(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"hello", 5, "hello"},
		{"hello!", 5, "hell…"},
		{"hi there", 4, "hi…"},
		{"hello", 1, "…"},
		{"h", 1, "h"},
		{"hello", 0, ""},
		{"hello", -1, ""},
		{"", 3, ""},
		{"a👩🏽‍🚀b", 5, "a…"},
		{"a👩🏽‍🚀bc", 6, "a👩🏽‍🚀…"},
		{"e\u0301e\u0301e\u0301", 4, "e\u0301…"},
		{"👩🏽‍🚀👩🏽‍🚀", 3, "…"},
		{"a\r\nb", 3, "a…"},
	} {
		if got := Preview(c.in, c.n); got != c.want {
			t.Errorf("Preview(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func TestPreviewKeepsToItsLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 40).Draw(t, "n")
		got := Preview(s, n)
		if utf8.RuneCountInString(got) > n {
			t.Fatalf("Preview(%q, %d) = %q, want at most %d code points", s, n, got, n)
		}
		if got != s && n > 0 && (!strings.HasSuffix(got, "…") || !strings.HasPrefix(s, strings.TrimSuffix(got, "…"))) {
			t.Fatalf("Preview(%q, %d) = %q, want the text, or its beginning and …", s, n, got)
		}
	})
}
