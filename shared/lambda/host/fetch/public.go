package fetch

import "net/netip"

// special lists the ranges that isPublic refuses: multicast, and the ranges in IANA's
// special-purpose registries. IPv6 ranges outside global are refused anyway.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

// global is the range from which public IPv6 addresses are allocated (RFC 4291 2.4). Parts
// of it that are not public, such as 2002::/16, are in special.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(list ...string) (all []netip.Prefix) {
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Is6() && (!global.Contains(a) || a.Zone() != "") {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return true
}
