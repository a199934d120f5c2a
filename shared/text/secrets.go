package text

import (
	"encoding/base64"
	"strings"
)

// Secrets reports whether s holds what looks like a credential, and the kind of
// the first one ("a GitHub token"). It takes time linear in len(s).
//
// Talking about secrets is allowed, so prefixes, masked values ("ghp_xxxx") and published
// keys pass. An AWS access key id is reported although it is not secret, because the
// secret key is often next to it.
//
// A secret without a typical form passes. 32 random bytes may be a hash, and are taken for
// a key only after words such as "seed". Passwords outside of URLs pass. Split or encoded
// secrets pass, too: Secrets guards against accidents, not against an author who wants to
// publish a secret.
func Secrets(s string) (kind string, found bool) {
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '-':
			kind, found = privateKey(s[i:])
		case c == ':':
			kind, found = colon(s, i)
		case alnum(c):
			if anywhere[c] {
				kind, found = within(s, i)
			}
			if !found && starts(s, i) {
				kind, found = starting(s[i:])
				// A token does not begin after a hyphen, which belongs to base64url.
				if !found && c == 'e' && (i == 0 || s[i-1] != '-') {
					kind, found = "a JSON Web Token", jwt(s[i:])
				}
			}
		}
		if found {
			return kind, true
		}
	}
	return "", false
}

// anywhere marks the letters and digits at which within looks.
var anywhere = func() (first [256]bool) {
	for _, f := range ownForms {
		first[f.prefix[0]] = true
	}
	for _, c := range []byte("sSpPdlL") {
		first[c] = true
	}
	return first
}()

// within looks at i for a credential that need not begin a word.
func within(s string, i int) (kind string, found bool) {
	switch s[i] {
	case 's', 'S':
		if _, ok := cutFold(s[i:], "se"); !ok { // seed, secret
			return "", false
		}
		if awsSecret(s[i:]) {
			return "an AWS secret access key", true
		}
		return "a private key or secret", named(s, i)
	case 'p', 'P':
		if _, ok := cutFold(s[i:], "pr"); !ok { // private
			return "", false
		}
		return "a private key or secret", named(s, i)
	case 'd':
		return privateKeyKind, privateMember(s, i)
	case 'l', 'L':
		return linkCodeKind, i > 0 && s[i-1] == '_' && linkCode(s[i:])
	}
	return own(s[i:])
}

// starts reports whether a word starts at i, possibly after an escape (\n) in
// text pasted from a program.
func starts(s string, i int) bool {
	return i == 0 || !alnum(s[i-1]) && s[i-1] != '_' ||
		i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

// starting looks for a credential at the start of s.
func starting(s string) (kind string, found bool) {
	if awsID(s) {
		return "an AWS access key id", true
	}
	if linkCode(s) {
		return linkCodeKind, true
	}
	for _, f := range formsByFirst[s[0]] {
		body, ok := strings.CutPrefix(s, f.prefix)
		if !ok {
			continue
		}
		n := run(body, f.more, 400)
		if n < f.length.min || f.length.exact && n > f.length.min {
			continue
		}
		body = body[:n]
		if f.word {
			body = longest(body)
		}
		if random(body) {
			return f.kind, true
		}
	}
	return leaking(s)
}

const linkCodeKind = "a link code of this service"

// linkCode reports whether s begins with a link code of this service, in lower or upper
// case: 20 digits of Crockford's base32. An id has 26 digits, so it does not match.
func linkCode(s string) bool {
	const prefix, digits = "lc_", "0123456789abcdefghjkmnpqrstvwxyz"
	s, ok := cutFold(s, prefix)
	return ok && has(s, "", 20) && strings.Trim(strings.ToLower(s[:20]), digits) == "" && distinct(s[:20]) >= 8
}

const pemBegin = "-----BEGIN "

// privateKey looks for a PEM block (RFC 7468) with a private key label,
// followed by a line of base64.
func privateKey(s string) (kind string, found bool) {
	if !strings.HasPrefix(s, pemBegin) {
		return "", false
	}
	s = s[len(pemBegin):min(len(s), 600)]
	label, rest, ok := strings.Cut(s, "-----")
	if !ok || !strings.Contains(label, "PRIVATE KEY") {
		return "", false
	}
	rest, _, _ = strings.Cut(rest, "-----")
	for rest != "" {
		n := run(rest, "+/", len(rest))
		if n >= 40 && random(rest[:n]) && !published(rest[:n]) {
			if strings.HasPrefix(label, "OPENSSH") {
				return "an OpenSSH private key", true
			}
			return privateKeyKind, true
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return "", false
}

// awsID matches AKIA (long-lived) and ASIA (temporary) access key ids.
func awsID(s string) bool {
	if !strings.HasPrefix(s, "AKIA") && !strings.HasPrefix(s, "ASIA") || !has(s, "_", 20) {
		return false
	}
	s = s[4:20]
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" && !strings.HasSuffix(s, "EXAMPLE") && distinct(s) >= 6
}

// awsSecret matches the usual name of a secret access key and its 40 characters, which have
// no prefix.
func awsSecret(s string) bool {
	for _, word := range []string{"secret", "access", "key"} {
		var ok bool
		if s, ok = cutFold(strings.TrimLeft(s[:min(len(s), 80)], "_- "), word); !ok {
			return false
		}
	}
	s = strings.TrimLeft(s, " \t\"'`:=>")
	return has(s, "+/", 40) && random(s[:40]) && !strings.HasSuffix(s[:40], "EXAMPLEKEY")
}

// jwt matches the compact form of a signed token (RFC 7515). Its first part is JSON that
// names an algorithm.
func jwt(s string) bool {
	if !strings.HasPrefix(s, "eyJ") {
		return false
	}
	const longest = 8 << 10
	var parts [3]string
	for i := range parts {
		n := run(s, "-_", longest)
		parts[i] = s[:n]
		s = s[n:]
		if i < 2 {
			if !strings.HasPrefix(s, ".") {
				return false
			}
			s = s[1:]
		}
	}
	head, err := base64.RawURLEncoding.DecodeString(parts[0])
	return err == nil && strings.Contains(string(head), `"alg"`) && len(parts[1]) >= 8 && len(parts[2]) >= 32 &&
		!publishedClaims(parts[1])
}

// run counts the leading bytes of s that are letters, digits or in more, up to
// max.
func run(s, more string, max int) int {
	n := 0
	for n < len(s) && n < max && (alnum(s[n]) || strings.IndexByte(more, s[n]) >= 0) {
		n++
	}
	return n
}

// has reports whether exactly n leading bytes of s are letters, digits or in more.
func has(s, more string, n int) bool { return run(s, more, n+1) == n }

// cutFold is [strings.CutPrefix] without regard to case. prefix must be ASCII.
func cutFold(s, prefix string) (after string, found bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// longest returns the first of the longest parts of s between hyphens and underscores.
func longest(s string) string {
	var best string
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// random reports whether s looks generated. Words, masks (xxxx…) and names in capitals do
// not.
func random(s string) bool {
	var lower, upper, digit int
	for i := range len(s) {
		switch c := s[i]; {
		case isLower(c):
			lower = 1
		case isUpper(c):
			upper = 1
		case isDigit(c):
			digit = 1
		}
	}
	return len(s) >= 16 && lower+upper+digit >= 2 && distinct(s) >= 8
}

func distinct(s string) (n int) {
	var seen [256]bool
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n
}

func digits(s string) (n int) {
	for _, c := range []byte(s) {
		if isDigit(c) {
			n++
		}
	}
	return n
}

func alnum(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
