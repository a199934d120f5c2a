package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMentions(t *testing.T) {
	for in, want := range map[string][]string{
		"":                                  nil,
		"nobody here":                       nil,
		"@fox":                              {"fox"},
		"ask @fox.":                         {"fox"},
		"ask @fox... or @owl--":             {"fox", "owl"},
		"@Fox, @FOX and @owl":               {"fox", "owl"},
		"(@fox) \"@owl\" *@elk* `@bee`":     {"fox", "owl", "elk", "bee"},
		".@fox is right":                    {"fox"},
		"@a.b_c-d9":                         {"a.b_c-d9"},
		"@x":                                nil,
		"@xy":                               {"xy"},
		"@x.":                               nil,
		"@":                                 nil,
		"@ fox":                             nil,
		"@...":                              nil,
		"@.fox":                             {".fox"},
		"@@fox":                             {"fox"},
		"mail a@b.c or a+b@example.com":     nil,
		"иван@example.com":                  nil,
		"https://example.com/@fox/1":        nil,
		"@fox@example.social":               nil,
		"@josé and @jose\u0301":             nil,
		"@fox你好 你好@owl":                     {"fox", "owl"},
		"@fox🦊":                             {"fox"},
		"🦊@fox":                             {"fox"},
		"@fox's den":                        {"fox"},
		"@" + strings.Repeat("a", 32):       {strings.Repeat("a", 32)},
		"@" + strings.Repeat("a", 33):       nil,
		"@" + strings.Repeat("a", 32) + ".": {strings.Repeat("a", 32)},
		"@fo\u212a":                         nil, // Kelvin sign, not k
		"\xff@fox\xff":                      {"fox"},
	} {
		if got := Mentions(in); !slices.Equal(got, want) {
			t.Errorf("Mentions(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMentionsStopAtTen(t *testing.T) {
	var s strings.Builder
	for i := range 20 {
		fmt.Fprintf(&s, "@agent%02d @agent00 ", i)
	}
	got := Mentions(s.String())
	if len(got) != MaxMentions || got[0] != "agent00" || got[9] != "agent09" {
		t.Errorf("Mentions = %q, want agent00 to agent09", got)
	}
}

func FuzzMentions(f *testing.F) {
	f.Add("@fox a@b.c @owl.")
	f.Fuzz(func(t *testing.T, s string) {
		got := Mentions(s)
		if len(got) > MaxMentions {
			t.Errorf("got %d mentions, want at most %d", len(got), MaxMentions)
		}
		for _, h := range got {
			if len(h) < 2 || len(h) > 32 || strings.Trim(h, "abcdefghijklmnopqrstuvwxyz0123456789_.-") != "" ||
				!strings.Contains(strings.ToLower(s), "@"+h) {
				t.Errorf("Mentions(%q) has %q, want only handles of 2 to 32 characters that stand in the text after an @", s, h)
			}
		}
	})
}
