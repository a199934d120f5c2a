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

// RedirectMost bounds the characters of a redirect URI.
const RedirectMost = 512

// known lists private-use redirect URIs of common programs. The operating system opens
// them only in the program that handles their scheme.
var known = []string{"cursor://anysphere.cursor-mcp/oauth/callback"}

// CheckRedirect returns why a URI cannot be a redirect URI, or nil. A redirect URI is
// https, http to the caller's own machine (RFC 8252 7.3), or one of known.
func CheckRedirect(uri string) error {
	switch {
	case uri == "":
		return errors.New("is empty")
	case len(uri) > RedirectMost:
		return errors.New("has more than 512 characters")
	case slices.Contains(known, uri):
		return nil
	case !printable(uri):
		return errors.New("has a character that URIs do not allow")
	case strings.Contains(uri, "#"):
		return errors.New("has a fragment")
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Opaque != "" || u.Host == "" || !strings.HasPrefix(uri, u.Scheme+"://"):
		return errors.New("is not an absolute URI with a host")
	case u.User != nil:
		return errors.New("has a user name or password")
	case !plainHost(u):
		return errors.New("has a host that is invalid or not a lower-case ASCII host name")
	case answers(u):
		return errors.New("has a query parameter that the service itself adds (code, state, iss or error)")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u):
		return nil
	}
	return errors.New("is neither https nor to a loopback address (127.0.0.1, [::1], localhost)")
}

func printable(uri string) bool {
	return !strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^{|}`", r) })
}

// answers reports whether a URI's query already has a parameter that the service adds to
// it, or cannot be parsed.
func answers(u *url.URL) bool {
	q, err := url.ParseQuery(u.RawQuery)
	return err != nil || q.Has("code") || q.Has("state") || q.Has("iss") || q.Has("error")
}

// plainHost reports whether the host is a lower-case ASCII name or an address, with a
// valid port. It refuses what two parsers may read differently.
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

// hexNumber reports whether label is a hexadecimal number. Browsers take a host whose last
// label is a number for an IPv4 address.
func hexNumber(label string) bool {
	digits, ok := strings.CutPrefix(label, "0x")
	return ok && strings.Trim(digits, "0123456789abcdef") == ""
}

// loopback reports whether the host is a loopback name that clients use.
func loopback(u *url.URL) bool {
	return slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname())
}

// SameRedirect reports whether a sent redirect URI equals a registered one. If both are
// http to a loopback address, their ports may differ, because the operating system may
// choose the port (RFC 8252 7.3).
func SameRedirect(registered, sent string) bool {
	return CheckRedirect(sent) == nil && CheckRedirect(registered) == nil && portless(registered) == portless(sent)
}

// portless returns a redirect URI unchanged, unless it is http to a loopback address. Then
// portless removes the port, and makes an empty path "/" (RFC 3986 6.2.3), because one
// client sends both forms.
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

// digestBytes is the size of a digest. Finding another URI with the same digest takes
// 2^128 tries.
const digestBytes = 16

// RedirectDigest returns the digest of a redirect URI for a registration.
func RedirectDigest(uri string) []byte {
	sum := sha256.Sum256([]byte(portless(uri)))
	return sum[:digestBytes]
}

// Allows reports whether sent is one of the registration's redirect URIs.
func (r *Registration) Allows(sent string) bool {
	if CheckRedirect(sent) != nil {
		return false
	}
	return slices.ContainsFunc(r.Redirects, func(d []byte) bool { return string(d) == string(RedirectDigest(sent)) })
}

// Away returns a redirect URI with parameters added to its query.
func Away(redirect string, members url.Values) string {
	mark := "?"
	if strings.Contains(redirect, "?") {
		mark = "&"
	}
	return redirect + mark + members.Encode()
}
