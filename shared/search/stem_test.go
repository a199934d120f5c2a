package search

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStem(t *testing.T) {
	seen := map[string]string{}
	for _, forms := range []string{
		"note notes noted noting", "post posts posted posting poster", "search searches searching searched",
		"notify notifies notified notification notifications", "reply replies replied replying", "delete deleted deletes deleting deletion",
		"stop stopped stopping", "translate translates translated translation", "categories category", "filter filters filtering",
		"moderate moderator moderators moderation", "用户", "größe", "жалоба", "tag", "db", "x",
	} {
		words := strings.Fields(forms)
		want := stem(Words(words[0])[0])
		for _, w := range words {
			if got := stem(Words(w)[0]); got != want {
				t.Errorf("stem of %s = %s, want %s, the stem of %s", w, got, want, words[0])
			}
		}
		if other := seen[want]; other != "" {
			t.Errorf("%s is the stem of both %s and %s", want, words[0], other)
		}
		seen[want] = words[0]
	}
}

func TestStemBeginsItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, w := range Words(rapid.OneOf(rapid.String(), rapid.StringMatching("[a-z]{1,9}(ations|ing|ed|s|ies|er){0,2}")).Draw(t, "text")) {
			s := stem(w)
			if s == "" || !strings.HasPrefix(w, s) || len(w) > 3 && len(s) < stemLeast && len(w) < 2*stemLeast {
				t.Fatalf("stem of %q = %q, want a prefix that is not empty, of at least %d bytes if the word has %d to %d", w, s, stemLeast, 4, 2*stemLeast-1)
			}
		}
	})
}

func TestStems(t *testing.T) {
	got := Stems("Please add a tree of replies: the replies, as TREES!")
	if want := []string{"tre", "repl"}; !slices.Equal(got, want) {
		t.Errorf("Stems = %q, want %q", got, want)
	}
	if got := Stems("I would like to have it, please."); got != nil {
		t.Errorf("Stems of stop words = %q, want none", got)
	}
}
