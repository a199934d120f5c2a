package emoji

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"agentsocial/shared/text"
)

const (
	england  = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	texas    = "\U0001f3f4\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f" // well-formed, not RGI
	tagsOpen = "\U0001f3f4\U000e0067\U000e0062"
	family   = "👨\u200d👩\u200d👧\u200d👦"
	heart    = "❤\ufe0f"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"none", "", nil},
		{"one", "🦊", []string{"🦊"}},
		{"two", "🦊🌙", []string{"🦊", "🌙"}},
		{"flags", "🇫🇷🇯🇵" + england, []string{"🇫🇷", "🇯🇵", england}},
		{"flag of the EU and the UN", "🇪🇺🇺🇳", []string{"🇪🇺", "🇺🇳"}},
		{"skin tones", "👍👍🏻👍🏽👍🏿", []string{"👍", "👍🏻", "👍🏽", "👍🏿"}},
		{"a tone alone", "🏾", []string{"🏾"}},
		{"family", family, []string{family}},
		{"joined with a tone", "👩🏽\u200d🚀🧑🏿\u200d🎄", []string{"👩🏽\u200d🚀", "🧑🏿\u200d🎄"}},
		{"two tones, equal and not", "🧑🏽\u200d🤝\u200d🧑🏽🧑🏽\u200d🤝\u200d🧑🏿🫱🏿\u200d🫲🏻", []string{"🧑🏽\u200d🤝\u200d🧑🏽", "🧑🏽\u200d🤝\u200d🧑🏿", "🫱🏿\u200d🫲🏻"}},
		{"keycaps", "1️⃣#️⃣*️⃣", []string{"1️⃣", "#️⃣", "*️⃣"}},
		{"keycap without VS16", "1\u20e3", []string{"1️⃣"}},
		{"heart in both forms", "❤" + heart, []string{heart, heart}},
		{"joined without VS16", "🏴\u200d☠🏳\u200d🌈", []string{"🏴\u200d☠\ufe0f", "🏳\ufe0f\u200d🌈"}},
		{"tone and missing VS16", "🕵🏽\u200d♂", []string{"🕵🏽\u200d♂\ufe0f"}},
		{"needless VS16", "🦊\ufe0f", []string{"🦊"}},
		{"signs with VS16", "©\ufe0f®\ufe0f™\ufe0fℹ\ufe0f", []string{"©\ufe0f", "®\ufe0f", "™\ufe0f", "ℹ\ufe0f"}},
		{"an emoji of Unicode 17", "\U0001fac8", []string{"\U0001fac8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.in)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("Parse = %+q, %v, want %+q", got, err, c.want)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, in, problem string }{
		{"letter", "🦊a🌙", `has "a" (U+0061) as character 2 of 3, which is not an emoji`},
		{"digit", "1", `has "1" (U+0031) as character 1 of 1,`},
		{"digit with VS16", "1\ufe0f", `(U+0031 U+FE0F)`},
		{"hash", "#", ""}, {"asterisk", "*", ""},
		{"bare signs", "©", `has "©" (U+00A9)`}, {"registered", "®", ""}, {"trade mark", "™", ""}, {"information", "ℹ", ""},
		{"space between", "🦊 🌙", `has " " (U+0020) as character 2 of 3,`},
		{"newline", "🦊\n", ""}, {"zero width space", "🦊\u200b", ""},
		{"half a flag", "🇫", `(U+1F1EB) as character 1 of 1,`},
		{"flag and a half", "🇫🇷🇯", "character 2 of 2,"},
		{"flag of no region", "🇽🇿", "(U+1F1FD U+1F1FF)"},
		{"flag split by VS16", "🇫\ufe0f🇷", ""},
		{"flag of Texas", texas, " …)"},
		{"open tag sequence", tagsOpen, ""}, {"tags alone", "\U000e0067\U000e007f", ""},
		{"VS16 alone", "\ufe0f", "(U+FE0F)"}, {"VS16 twice", "❤\ufe0f\ufe0f", ""},
		{"text presentation", "❤\ufe0e", "(U+2764 U+FE0E)"},
		{"joiner alone", "\u200d", `"\u200d" (U+200D)`}, {"joiner after", "🦊\u200d", ""},
		{"joined nonsense", "🦊\u200d🌙", "(U+1F98A U+200D U+1F319)"},
		{"joined letter", "a\u200d🦊", ""},
		{"tone on a fox", "🦊🏽", ""}, {"three tones", "🧑🏽\u200d🤝\u200d🧑🏽🏽", ""},
		{"equal tones where they must differ", "🫱🏻\u200d🫲🏻", ""},
		{"keycap of a letter", "a\u20e3", ""}, {"keycap alone", "\u20e3", ""},
		{"accents", "🦊\u0301", ""},
		{"Han", "狐", ""}, {"kaomoji", ":-)", `has ":" (U+003A) as character 1 of 3,`},
		{"not UTF-8", "🦊\xff", "is not valid UTF-8"},
		{"too long", strings.Repeat("🦊", 257), "has 1028 bytes, at most 1024 are allowed"},
		{"megabytes", strings.Repeat("🦊", 1<<20), "has 4194304 bytes"},
		{"a cluster of four", "🦊\u0301\u0301\u0301", "(U+1F98A U+0301 U+0301 U+0301) as"},
		{"a cluster of five", "🦊\u0301\u0301\u0301\u0301", "(U+1F98A U+0301 U+0301 U+0301 …) as"},
		{"a byte too long", strings.Repeat("🦊", 256) + "x", "has 1025 bytes, at most 1024 are allowed"},
		{"one long cluster", "🦊" + strings.Repeat("\u0301", 400), "(U+1F98A U+0301 U+0301 U+0301 …)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse(c.in)
			var p *text.Problem
			if !errors.As(err, &p) {
				t.Fatalf("Parse = %+q, %v, want a *text.Problem", got, err)
			}
			if !strings.Contains(p.Problem, c.problem) || p.Hint == "" || len(p.Problem) > 200 {
				t.Errorf("Parse = %+v, want %q in it, a hint, and at most 200 bytes", p, c.problem)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	if got, err := Identity("❤🦊"); err != nil || got != heart+"🦊" {
		t.Errorf("Identity of two emoji = %+q, %v, want them fully qualified", got, err)
	}
	if got, err := Identity(strings.Repeat(england, 10)); err != nil || got != strings.Repeat(england, 10) {
		t.Errorf("Identity of ten flags = %+q, %v, want them unchanged", got, err)
	}
	if got, err := Identity("🦊"); err != nil || got != "🦊" {
		t.Errorf("Identity of one emoji = %q, %v, want it unchanged", got, err)
	}
	if got, err := Parse(strings.Repeat("🦊", 256)); err != nil || len(got) != 256 {
		t.Errorf("Parse of 256 emoji returned %d emoji, error %v, want 256", len(got), err)
	}
	for in, problem := range map[string]string{
		"":                      "has 0 emoji, 1 to 10 are allowed",
		strings.Repeat("🦊", 11): "has 11 emoji, 1 to 10 are allowed",
		"🦊x":                    "which is not an emoji",
	} {
		if got, err := Identity(in); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("Identity(%q) = %q, %v, want an error with %q", in, got, err, problem)
		}
	}
}

func TestOne(t *testing.T) {
	if got, err := One("☠"); err != nil || got != "☠\ufe0f" {
		t.Errorf("One = %+q, %v, want the emoji fully qualified", got, err)
	}
	for in, problem := range map[string]string{
		"":   "has 0 emoji, exactly 1 is allowed",
		"🦊🌙": "has 2 emoji, exactly 1 is allowed",
		"+1": "which is not an emoji",
	} {
		if got, err := One(in); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("One(%q) = %q, %v, want an error with %q", in, got, err, problem)
		}
	}
}

func FuzzIdentity(f *testing.F) {
	for _, s := range []string{"", "🦊🌙", "❤" + heart, family, england, texas, "🇫🇷🇯", "1\u20e3", "🕵🏽\u200d♂", "🧑🏽\u200d🤝\u200d🧑🏿", "🦊\u200d🌙", "©\ufe0f", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Identity(s)
		if err != nil {
			if got != "" || len(err.Error()) > 200 {
				t.Errorf("Identity(%+q) = %+q, %v, want nothing, and an error of at most 200 bytes", s, got, err)
			}
			return
		}
		if again, err := Identity(got); err != nil || again != got {
			t.Errorf("Identity(%+q) = %+q, and Identity of that = %+q, %v, want the same", s, got, again, err)
		}
		if n := uniseg.GraphemeClusterCount(got); n < 1 || n > MaxIdentity || len(s) > maxBytes {
			t.Errorf("Identity(%+q) accepted %d bytes, and returned %d clusters; want at most %d bytes, 1 to %d clusters", s, len(s), n, maxBytes, MaxIdentity)
		}
	})
}

func BenchmarkIdentity(b *testing.B) {
	for b.Loop() {
		if _, err := Identity("❤👩🏽\u200d🚀🦊🌙"); err != nil {
			b.Fatal(err)
		}
	}
}
