package mail

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Registered returns the registered part of the address's domain: example.co.uk of
// mail.example.co.uk. It ignores suffixes that a domain's owner hands out, such as
// duckdns.org, because names below them cost nothing.
func (a Address) Registered() string {
	domain := a.Domain()
	suffix, registry := publicsuffix.PublicSuffix(domain)
	for !registry && strings.Contains(suffix, ".") {
		_, above, _ := strings.Cut(suffix, ".")
		suffix, registry = publicsuffix.PublicSuffix(above)
	}
	below, found := strings.CutSuffix(domain, "."+suffix)
	if !found {
		return domain
	}
	return below[strings.LastIndexByte(below, '.')+1:] + "." + suffix
}
