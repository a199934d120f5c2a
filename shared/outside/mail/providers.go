package mail

import (
	_ "embed"
	"strings"
)

// Each list has comments and then sorted domains, one per line. The lists are searched as
// texts, which costs nothing when a function starts. providers.txt and
// providers_relays.txt are kept by hand; providers.mjs makes the others.
var (
	//go:embed providers.txt
	providersByHand string
	//go:embed providers_free.txt
	providersFree string
	//go:embed providers_disposable.txt
	providersDisposable string
	//go:embed providers_relays.txt
	providersRelays string
)

// Public reports whether anybody can get an address at this domain.
func (a Address) Public() bool {
	return listed(providersByHand, a.Domain()) || listed(providersFree, a.Domain())
}

// Throwaway reports whether the address is at a service of disposable mail, or at
// a relay. One person can have any number of such addresses at no cost.
func (a Address) Throwaway() bool {
	for domain := a.Domain(); strings.Contains(domain, "."); {
		if listed(providersDisposable, domain) || listed(providersRelays, domain) {
			return true
		}
		_, domain, _ = strings.Cut(domain, ".") // services hand out subdomains, too
	}
	return false
}

// listed reports whether a line of a sorted text is domain. Comments sort before
// all domains.
func listed(text, domain string) bool {
	from, to := 0, len(text) // the domain's line, if any, is in text[from:to]
	for from < to {
		at := from + strings.LastIndexByte(text[from:(from+to)/2], '\n') + 1
		line, _, _ := strings.Cut(text[at:], "\n")
		switch strings.Compare(line, domain) {
		case 0:
			return true
		case -1:
			from = at + len(line) + 1
		default:
			to = at
		}
	}
	return false
}
