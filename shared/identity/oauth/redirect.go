package oauth

import (
	"crypto/sha256"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// RedirectMost is the most characters of a redirect URI.
const RedirectMost = 512

// known are private-use redirect URIs of programs that people have: anybody may
// register them, and only the program that the system knows them of opens them.
var known = []string{"cursor://anysphere.cursor-mcp/oauth/callback"}

// CheckRedirect says what keeps a URI from being a redirect URI; nil if nothing
// does. It is https to a host, http to the caller's own machine (RFC 8252 7.3),
// or one of a short list of private-use ones.
func CheckRedirect(uri string) error {
	switch {
	case uri == "":
		return errors.New("is empty")
	case len(uri) > RedirectMost:
		return errors.New("has more than 512 characters")
	case slices.Contains(known, uri):
		return nil
	case !printable(uri):
		return errors.New("has a character that stands in no URI")
	case strings.Contains(uri, "#"):
		return errors.New("has a fragment")
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Opaque != "" || u.Host == "" || !strings.HasPrefix(uri, u.Scheme+"://"):
		return errors.New("is no absolute URI with a host")
	case u.User != nil:
		return errors.New("has a user name or password")
	case !plainHost(u):
		return errors.New("has a host that is none, or not written in its plain form")
	case answers(u):
		return errors.New("has a query member that the answer is to have")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u):
		return nil
	}
	return errors.New("is neither https nor to a loopback address (127.0.0.1, [::1], localhost)")
}

// printable: a URI's characters, and no others.
func printable(uri string) bool {
	return !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^{|}`", r) })
}

// answers reports whether a URI has what is put into it: there would be two.
func answers(u *url.URL) bool {
	q, err := url.ParseQuery(u.RawQuery)
	return err != nil || q.Has("code") || q.Has("state") || q.Has("iss") || q.Has("error")
}

// plainHost: a name of letters, digits, hyphens and dots, or an address, in
// lower case, and a port that is one. Whatever two parsers may read in two ways
// is none.
func plainHost(u *url.URL) bool {
	host, port := u.Hostname(), u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); strings.HasSuffix(u.Host, ":") || port != "" && (err != nil || n == 0 || port[0] == '0') {
		return false
	}
	if strings.HasPrefix(u.Host, "[") {
		a, err := netip.ParseAddr(host)
		return err == nil && a.Is6() && a.Zone() == "" && a.String() == host
	}
	if host == "" || len(host) > 253 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return false
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || strings.HasPrefix(l, "-") || strings.HasSuffix(l, "-") {
			return false
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" { // browsers read it as an IPv4 address
		a, err := netip.ParseAddr(host)
		return err == nil && a.Is4()
	}
	return !hexNumber(labels[len(labels)-1])
}

// hexNumber is a last label that browsers take for the end of an IPv4 address.
func hexNumber(label string) bool {
	digits, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(digits, "0123456789abcdef") == ""
}

// loopback: the three spellings that clients use.
func loopback(u *url.URL) bool {
	return slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname())
}

// SameRedirect reports whether a redirect URI that was sent is the one that was
// registered: to the letter, but for the port of a loopback address, which a
// program on the caller's machine does not choose (RFC 8252 7.3).
func SameRedirect(registered, sent string) bool {
	return CheckRedirect(sent) == nil && CheckRedirect(registered) == nil && portless(registered) == portless(sent)
}

// portless is a redirect URI without the port, if it is a loopback one; there,
// no path is the path "/" (RFC 3986 6.2.3), which one client writes in both ways.
func portless(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "http" || !loopback(u) {
		return uri
	}
	rest, _ := strings.CutPrefix(uri, "http://"+u.Host)
	if rest == "" {
		rest = "/"
	}
	return "http://" + strings.TrimSuffix(u.Host, ":"+u.Port()) + rest
}

// digestBytes are enough to tell redirect URIs apart: to find another URI with
// the digest of a given one takes 2^128 tries.
const digestBytes = 16

// RedirectDigest stands for a redirect URI in a registration.
func RedirectDigest(uri string) []byte {
	sum := sha256.Sum256([]byte(portless(uri)))
	return sum[:digestBytes]
}

// Allows reports whether a redirect URI that was sent is one of the registration's.
func (r *Registration) Allows(sent string) bool {
	if CheckRedirect(sent) != nil {
		return false
	}
	return slices.ContainsFunc(r.Redirects, func(d []byte) bool { return string(d) == string(RedirectDigest(sent)) })
}

// Away is a redirect URI with more members in its query.
func Away(redirect string, members url.Values) string {
	mark := "?"
	if strings.Contains(redirect, "?") {
		mark = "&"
	}
	return redirect + mark + members.Encode()
}
