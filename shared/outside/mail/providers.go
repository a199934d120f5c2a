package mail

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed providers.txt
var providersFile string

// providers are the domains of the file, in order.
var providers = sync.OnceValue(func() (domains []string) {
	for line := range strings.Lines(providersFile) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "#") {
			domains = append(domains, line)
		}
	}
	return domains
})

// Public reports whether anybody may have an address at this one's domain, as
// far as is known: then it says nothing about who stands behind it.
func (a Address) Public() bool {
	_, found := slices.BinarySearch(providers(), a.Domain())
	return found
}
