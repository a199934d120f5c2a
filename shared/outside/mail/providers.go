package mail

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed providers.txt
var providersFile string

// providers returns the domains of the file, in order.
var providers = sync.OnceValue(func() (domains []string) {
	for line := range strings.Lines(providersFile) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			domains = append(domains, line)
		}
	}
	return domains
})

// Public reports whether anybody can get an address at this domain, so that the
// domain says nothing about the owner of the address.
func (a Address) Public() bool {
	_, found := slices.BinarySearch(providers(), a.Domain())
	return found
}
