package sequences

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// The file unfolds to as many emoji as its head says, each of which is one
// cluster to uniseg (whose own tables are of Unicode 15) and its own full form.
func TestEveryEmojiOfTheFileIsOne(t *testing.T) {
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
				t.Errorf("%q %+q: %+q, %v", form, form, got, ok)
			}
			if uniseg.GraphemeClusterCount(form) != 1 {
				t.Errorf("%q %+q is more than one cluster", form, form)
			}
		}
	}
	if n != 3953 || !strings.Contains(rgiData, "3953 emoji") {
		t.Errorf("%d emoji, RGI_Emoji of Unicode 17.0 has 3953", n)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load()
	}
}
