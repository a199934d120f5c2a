package sequences

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// Each emoji must be one cluster for uniseg, although its tables are of Unicode 15.
func TestEveryListedSequenceIsAnEmoji(t *testing.T) {
	tones := []rune("🏻🏼🏽🏾🏿")
	n := 0
	for _, folded := range rgi() {
		forms := map[string]bool{}
		for _, a := range tones {
			for _, b := range tones {
				differ := strings.ContainsRune(folded, other)
				if differ && a == b {
					continue
				}
				first := true
				forms[strings.Map(func(r rune) rune {
					switch {
					case r == light && (first || !differ):
						first = false
						return a
					case Tone(r):
						return b
					}
					return r
				}, folded)] = true
			}
		}
		for form := range forms {
			n++
			if got, ok := Emoji(form); !ok || got != form {
				t.Errorf("Emoji(%q %+q) = %+q, %v, want it unchanged", form, form, got, ok)
			}
			if uniseg.GraphemeClusterCount(form) != 1 {
				t.Errorf("%q %+q has %d clusters, want 1", form, form, uniseg.GraphemeClusterCount(form))
			}
		}
	}
	if n != 3953 || !strings.Contains(rgiData, "3953 emoji") {
		t.Errorf("rgi.txt: got %d emoji, want the 3953 of Unicode 17.0, and this number in its head", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load()
	}
}
