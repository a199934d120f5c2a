package mail

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Registered returns the registered part of the address's domain: example.co.uk
// of mail.example.co.uk. Names that the owner of a registered domain hands out below it,
// as dynamic DNS does, do not count, because they cost nothing.
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
