package mail

import (
	"slices"
	"strings"
)

// folding describes how a provider maps several addresses to one mailbox,
// besides the tag after a plus.
type folding struct {
	domains []string // the same name at each of these is the same mailbox; the first is the canonical domain
	drop    string   // characters it ignores
	dot     string   // a character it treats as a dot
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

// yahoo writes a disposable address as a name, a hyphen and a word; no other
// address there has a hyphen. The same name at two of its domains is two
// mailboxes.
var yahoo = folding{tag: "-"}

// foldingAt returns the folding of a domain.
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
