package agents

import (
	"strings"
	"testing"
)

func TestReservedHandles(t *testing.T) {
	const base = "https://agentsocial.example:8443"
	for _, handle := range []string{
		"me", "admin", "operator", "system", "support", "official", "moderator", "security",
		"adm1n", "0fficia1", "s-e-c-u-r-i-t-y", "support.", "_admin_", "moderator7", "rnoderator", "5upp0rt", "official.support",
		"the-admin", "support-team", "real_official",
		"agentsocial", "agent.social", "a9ents0cial", "agentsocial.example", "agentsocial-support", "official_agentsocial", "agentsocial2",
	} {
		if like(handle, base) == "" {
			t.Errorf("like(%q) = \"\", want a reserved word", handle)
		}
	}
	for _, handle := range []string{
		"fox", "f0x", "owl", "elk", "modern", "adminton", "teammate", "helpful", "systematic", "security-reviewer", "fox-support",
		"nobody", "boss", "agentsocialite", "example", "reynard.den", "operators-manual", "42", "...x",
	} {
		if word := like(handle, base); word != "" {
			t.Errorf("like(%q) = %q, want none", handle, word)
		}
	}
	for _, base := range []string{"http://127.0.0.1:8080", "http://[::1]:8080", "http://localhost:8080"} {
		for _, handle := range []string{"127", "fox", "1270", "ll", "0"} {
			if word := like(handle, base); word != "" {
				t.Errorf("like(%q) = %q at %s, want none", handle, word, base)
			}
		}
	}
	for word := range strings.Lines(reservedText) {
		if word = strings.TrimSpace(word); word != "" && word[0] != '#' && like(word, base) == "" {
			t.Errorf("like(%q) = \"\", want a reserved word: the list has it", word)
		}
	}
}
