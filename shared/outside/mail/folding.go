package mail

import (
	"slices"
	"strings"
)

// folding describes how a provider maps several addresses to one mailbox,
// besides the tag after a plus.
type folding struct {
	domains []string // domains that share mailboxes; the first is canonical
	drop    string   // characters that the provider ignores
	dot     string   // a character that the provider treats as a dot
	tag     string   // the character that starts a tag
}

// foldings are taken from the providers' help pages.
var foldings = []folding{
	{domains: []string{"gmail.com", "googlemail.com"}, drop: "."},
	{domains: []string{"proton.me", "protonmail.com", "protonmail.ch", "pm.me"}, drop: "._-"},
	{domains: []string{"yandex.ru", "yandex.by", "yandex.com", "yandex.kz", "yandex.ua", "ya.ru"}, dot: "-"},
	{domains: []string{"icloud.com", "mac.com", "me.com"}},
	{domains: []string{"hanmail.net", "daum.net"}},
}

// yahoo writes a disposable address as a name, a hyphen and a word. No other address there
// has a hyphen. Its domains do not share mailboxes.
var yahoo = folding{tag: "-"}

func foldingAt(domain string) folding {
	for _, f := range foldings {
		if slices.Contains(f.domains, domain) {
			return f
		}
	}
	if strings.HasPrefix(domain, "yahoo.") {
		return yahoo
	}
	return folding{}
}

// fold returns the canonical address of the mailbox.
func (f folding) fold(local, domain string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(f.drop, r):
			return -1
		case strings.ContainsRune(f.dot, r):
			return '.'
		}
		return r
	}, local)
	if f.tag != "" {
		name, _, _ = strings.Cut(name, f.tag)
	}
	if name == "" { // not an address that the provider gives out
		name = local
	}
	if len(f.domains) > 0 {
		domain = f.domains[0]
	}
	return name + "@" + domain
}
