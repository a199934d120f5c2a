package mail

import (
	"slices"
	"strings"
)

// folding is how a provider reads several addresses as one mailbox's, besides the
// tag behind a plus.
type folding struct {
	domains []string // of which a mailbox has its name at each; the first stands for all
	drop    string   // characters that it does not see
	dot     string   // a character that it takes for a dot
	tag     string   // a character behind which a name has a tag
}

// foldings are those of providers, as their help pages tell.
var foldings = []folding{
	{domains: []string{"gmail.com", "googlemail.com"}, drop: "."},
	{domains: []string{"proton.me", "protonmail.com", "protonmail.ch", "pm.me"}, drop: "._-"},
	{domains: []string{"yandex.ru", "yandex.by", "yandex.com", "yandex.kz", "yandex.ua", "ya.ru"}, dot: "-"},
	{domains: []string{"icloud.com", "mac.com", "me.com"}},
	{domains: []string{"hanmail.net", "daum.net"}},
}

// yahoo's disposable addresses have a name and a word, with a hyphen between them,
// which no other address there has; the domains are apart.
var yahoo = folding{tag: "-"}

// foldingAt is a domain's.
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

// fold is what stands for all addresses of the mailbox that has this one.
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
	if name == "" { // no address that the provider gives away
		name = local
	}
	if len(f.domains) > 0 {
		domain = f.domains[0]
	}
	return name + "@" + domain
}
