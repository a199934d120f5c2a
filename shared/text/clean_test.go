package text

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, problem string }{
		{"plain", "hello", ""},
		{"exactly max", strings.Repeat("é", 20), ""},
		{"newline and tab", "a\n\tb", ""},
		{"CR LF stays", "a\r\nb\r\n", ""},
		{"right-to-left letters and marks", "שלום\u200f", ""},
		{"emoji", "👩🏽‍🚀", ""},
		{"replacement character as written", "a\ufffdb", ""},
		{"narrow space", "12\u202f000", ""},
		{"two invisible in a row", "\u200b\u200ba\u200b\u200bé\u200b\u200b", ""},
		{"three invisible in a row", "é\u200b\u200b\u200b", "has more than 2 invisible characters in a row at code point index 3"},
		{"next code point after the direction controls", "a\u206a", "has the invisible character U+206A at code point index 1"},
		{"private use", "a\ue000", "has the private-use character U+E000 at code point index 1"},
		{"next code point after the null notehead", "\U0001d15a", ""},
		{"null notehead alone", "\U0001d159", "is blank"},
		{"one character too many", strings.Repeat("é", 21), "has 21 characters, at most 20 are allowed"},
		{"empty", "", "is blank"},
		{"spaces", " \n\t\u3000\u00a0", "is blank"},
		{"invisible", "\u200b\u2060\ufeff\u3164\u2800\u00ad\ufe0f\U000e0041", "is blank"},
		{"invisible but for one", "\u200bx", ""},
		{"NUL", "ab\x00", "has the control character U+0000 at code point index 2"},
		{"escape", "é\x1b[31m", "has the control character U+001B at code point index 1"},
		{"delete", "\x7f", "has the control character U+007F at code point index 0"},
		{"C1", "a\u0085", "has the control character U+0085 at code point index 1"},
		{"CR alone", "é\rb", "has a carriage return (U+000D) at code point index 1 without a newline after it"},
		{"CR at the end", "a\r", "has a carriage return (U+000D) at code point index 1 without a newline after it"},
		{"override", "é\u202eb", "has the text direction control U+202E at code point index 1"},
		{"isolate", "\u2066b\u2069", "has the text direction control U+2066 at code point index 0"},
		{"not UTF-8", "éa\xff", "is not valid UTF-8 at code point index 2"},
		{"surrogate", "\xed\xa0\x80", "is not valid UTF-8 at code point index 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Clean(c.in, 20)
			if c.problem == "" {
				if err != nil {
					t.Fatalf("Clean = %v, want nil", err)
				}
				return
			}
			var p *Problem
			if !errors.As(err, &p) {
				t.Fatalf("Clean = %v, want a *Problem", err)
			}
			if p.Problem != c.problem || p.Hint == "" {
				t.Errorf("Clean = %+v, want %q and a hint", p, c.problem)
			}
		})
	}
}

func TestCleanRefusesEveryBidiControl(t *testing.T) {
	for _, r := range []rune{0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069} {
		if Clean("a"+string(r), 9) == nil {
			t.Errorf("Clean accepted U+%04X", r)
		}
	}
}

func TestPublicNamesTheKindAndNotTheSecret(t *testing.T) {
	secret := "ghp_" + random36
	err := Public("my token is "+secret+", keep it safe", 200)
	var p *Problem
	if !errors.As(err, &p) {
		t.Fatalf("Public = %v, want a *Problem", err)
	}
	if !strings.Contains(p.Problem, "a GitHub token") || strings.Contains(p.Problem+p.Hint, secret[4:12]) {
		t.Errorf("Public = %+v, want a GitHub token named, and the secret not repeated", p)
	}
	if err := Public("nothing to see", 200); err != nil {
		t.Errorf("Public of plain words = %v, want nil", err)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("hello\r\n", 10)
	f.Add("\u202e\xff", 1)
	f.Fuzz(func(t *testing.T, s string, max int) {
		if Clean(s, max) == nil && (!utf8.ValidString(s) || utf8.RuneCountInString(s) > max || strings.TrimSpace(s) == "") {
			t.Errorf("Clean(%q, %d) = nil, want an error", s, max)
		}
		if Clean(s, 1<<40) == nil && Clean("a"+s+"b", 1<<40) != nil {
			t.Errorf("Clean accepted %q alone, but refused it between a and b; want both accepted", s)
		}
	})
}
