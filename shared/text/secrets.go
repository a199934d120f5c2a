package text

import (
	"encoding/base64"
	"strings"
)

// form is a credential that starts with a known prefix.
type form struct {
	kind, prefix string
	more         string // characters allowed in its body besides letters and digits
	length       length
	word         bool // ordinary names look like it, so one part of it must look random
}

// length is the number of characters in a body.
type length struct {
	min   int
	exact bool
}

func exactly(n int) length { return length{n, true} }
func atLeast(n int) length { return length{n, false} }

// forms are tried in this order: more specific prefixes first. A length is a
// minimum if the issuer varies it.
var forms = []form{
	{"an access token of this service", "ast_", "_", atLeast(40), true},
	{"a refresh token of this service", "asr_", "_", atLeast(40), true},
	{"a GitHub token", "github_pat_", "_", atLeast(60), false},
	{"a GitHub token", "ghp_", "", atLeast(36), false},
	{"a GitHub token", "gho_", "", atLeast(36), false},
	{"a GitHub token", "ghu_", "", atLeast(36), false},
	{"a GitHub token", "ghs_", "", atLeast(36), false},
	{"a GitHub token", "ghr_", "", atLeast(36), false},
	{"a GitLab token", "glpat-", "-_", atLeast(20), true},
	{"a Slack token", "xoxa-", "-", atLeast(20), true},
	{"a Slack token", "xoxb-", "-", atLeast(20), true},
	{"a Slack token", "xoxe-", "-", atLeast(20), true},
	{"a Slack token", "xoxp-", "-", atLeast(20), true},
	{"a Slack token", "xoxr-", "-", atLeast(20), true},
	{"a Slack token", "xoxs-", "-", atLeast(20), true},
	{"a Slack token", "xapp-", "-", atLeast(20), true},
	{"a Stripe key", "sk_live_", "", atLeast(24), false},
	{"a Stripe key", "rk_live_", "", atLeast(24), false},
	{"a webhook secret", "whsec_", "+/=", atLeast(24), false},
	{"an Anthropic key", "sk-ant-", "-_", atLeast(32), true},
	{"an OpenAI key", "sk-proj-", "-_", atLeast(32), true},
	{"an API key", "sk-", "-_", atLeast(32), true}, // OpenAI's older form, which others copied
	{"a Google API key", "AIza", "-_", exactly(35), false},
	{"a Groq key", "gsk_", "", atLeast(40), false},
	{"an xAI key", "xai-", "", atLeast(60), false},
	{"a Hugging Face token", "hf_", "", exactly(34), false},
	{"an npm token", "npm_", "", exactly(36), false},
	{"a PyPI token", "pypi-AgEIcHlwaS5vcmc", "-_", atLeast(40), false},
}

// formsByFirst groups the forms by the first byte of their prefix, because
// every word of a text is compared with them.
var formsByFirst = func() (by [256][]form) {
	for _, f := range forms {
		by[f.prefix[0]] = append(by[f.prefix[0]], f)
	}
	return by
}()

// Secrets reports whether s holds what looks like a credential, and the kind of
// the first one ("a GitHub token"). It never returns the value.
//
// Talking about secrets is allowed: bare prefixes, shortened or masked values
// ("sk-…", "ghp_xxxx"), words joined by hyphens and the example keys of AWS's
// documentation pass. An AWS access key id is reported although it is not
// secret, because the secret key is often next to it. The time is linear in
// len(s).
func Secrets(s string) (kind string, found bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '-':
			kind, found = privateKey(s[i:])
		case (c == 's' || c == 'S') && awsSecret(s[i:]):
			kind, found = "an AWS secret access key", true
		case alnum(c) && starts(s, i):
			kind, found = starting(s[i:])
			// A hyphen belongs to base64url, so each run is read once.
			if !found && c == 'e' && (i == 0 || s[i-1] != '-') {
				kind, found = "a JSON Web Token", jwt(s[i:])
			}
		}
		if found {
			return kind, true
		}
	}
	return "", false
}

// starts reports whether a word starts at i, possibly after an escape (\n) in
// text pasted from a program.
func starts(s string, i int) bool {
	return i == 0 || !alnum(s[i-1]) && s[i-1] != '_' ||
		i > 1 && s[i-2] == '\\' && strings.IndexByte("nrt", s[i-1]) >= 0
}

// starting looks for a credential at the start of s.
func starting(s string) (kind string, found bool) {
	// "openssh-key-v1" in base64: such a key without its frame.
	if strings.HasPrefix(s, "b3BlbnNzaC1rZXktdjE") && run(s, "+/", 100) == 100 {
		return "an OpenSSH private key", true
	}
	if awsID(s) {
		return "an AWS access key id", true
	}
	if linkCode(s) {
		return "a link code of this service", true
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
	return "", false
}

// linkCode reports whether s begins with a link code of this service, in either
// case: 20 digits of Crockford's base32, possibly all letters. An id has 26.
func linkCode(s string) bool {
	const prefix, digits = "lc_", "0123456789abcdefghjkmnpqrstvwxyz"
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return false
	}
	s = s[len(prefix):]
	n := run(s, "", 21)
	return n == 20 && strings.Trim(strings.ToLower(s[:n]), digits) == "" && distinct(s[:n]) >= 8
}

const pemBegin = "-----BEGIN "

// privateKey looks for a PEM block (RFC 7468) with a private key label,
// followed by a line of base64. The label alone is not refused.
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
	for len(rest) > 0 {
		n := run(rest, "+/", len(rest))
		if n >= 40 && random(rest[:n]) {
			if strings.HasPrefix(label, "OPENSSH") {
				return "an OpenSSH private key", true
			}
			return "a private key", true
		}
		rest = rest[min(n+1, len(rest)):]
	}
	return "", false
}

// awsID matches AKIA (long-lived) and ASIA (temporary) access key ids.
func awsID(s string) bool {
	if !strings.HasPrefix(s, "AKIA") && !strings.HasPrefix(s, "ASIA") {
		return false
	}
	n := run(s, "_", 21)
	return n == 20 && strings.Trim(s[4:n], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" &&
		!strings.HasSuffix(s[:n], "EXAMPLE") && distinct(s[4:n]) >= 6
}

// awsSecret matches the 40 characters of a secret access key after its usual
// name; they have no prefix of their own.
func awsSecret(s string) bool {
	for _, word := range []string{"secret", "access", "key"} {
		s = strings.TrimLeft(s[:min(len(s), 80)], "_- ")
		if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
			return false
		}
		s = s[len(word):]
	}
	s = strings.TrimLeft(s, " \t\"'`:=>")
	n := run(s, "+/", 41)
	return n == 40 && random(s[:n]) && !strings.HasSuffix(s[:n], "EXAMPLEKEY")
}

// jwt matches the compact form of a signed token (RFC 7515): three parts, of
// which the first is JSON that names an algorithm.
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
	return err == nil && strings.Contains(string(head), `"alg"`) && len(parts[1]) >= 8 && len(parts[2]) >= 32
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

// longest returns the longest part of s between hyphens and underscores.
func longest(s string) string {
	var best string
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '-' || r == '_' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// random reports whether s looks generated: sixteen or more characters, at
// least eight of them different, and two of the three kinds lower case, upper
// case and digit. Words, masks (xxxx…) and names in capitals fail.
func random(s string) bool {
	var lower, upper, digit int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			lower = 1
		case c >= 'A' && c <= 'Z':
			upper = 1
		case c >= '0' && c <= '9':
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

func alnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
