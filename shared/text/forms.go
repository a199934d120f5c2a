package text

import "strings"

// form is a credential that starts with a known prefix.
type form struct {
	kind, prefix string
	more         string // characters allowed in its body besides letters and digits
	length       length
	word         bool // ordinary names can have this form, so one part of the body must look random
}

// length is the number of characters in a body.
type length struct {
	min   int
	exact bool
}

func exactly(n int) length { return length{n, true} }
func atLeast(n int) length { return length{n, false} }

// forms are tried in this order: more specific prefixes first. A form has an exact length
// if its issuer does not vary the length.
var forms = []form{
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
	{"a Google OAuth token", "ya29.", "-_.", atLeast(40), false},
	{"a HashiCorp Vault token", "hvs.", "-_", atLeast(24), true},
	{"a PyPI token", "pypi-AgEIcHlwaS5vcmc", "-_", atLeast(40), false},
}

// formsByFirst groups the forms by the first byte of their prefix, for speed.
var formsByFirst = func() (by [256][]form) {
	for _, f := range forms {
		by[f.prefix[0]] = append(by[f.prefix[0]], f)
	}
	return by
}()

// ownForm is a credential of this service or of its agents. It is
// found even after a letter, and its body may be broken across lines.
type ownForm struct {
	kind, prefix, more string
	min                int
	token              bool // a token of this service
}

const privateKeyKind = "a private key"

// ownForms are the two tokens of this service, and private keys without PEM's BEGIN line.
// The prefix of a private key is the part of its DER that all keys of its kind share. An
// access token has at least 92 characters, a refresh token more than 200.
var ownForms = []ownForm{
	{"an access token of this service", "ast_", "", 80, true},
	{"a refresh token of this service", "asr_", "-_", 60, true},
	{privateKeyKind, "MC4CAQAwBQYDK2Vw", "+/-_", 40, false},              // Ed25519, PKCS #8 (RFC 8410)
	{privateKeyKind, "MFMCAQEwBQYDK2Vw", "+/-_", 40, false},              // Ed25519 with the public key
	{privateKeyKind, "302e020100300506032b6570", "", 64, false},          // Ed25519, PKCS #8, in hexadecimal
	{privateKeyKind, "MIGHAgEAMBMGByqGSM49AgEG", "+/-_", 100, false},     // P-256, PKCS #8
	{privateKeyKind, "MHcCAQEEI", "+/-_", 100, false},                    // P-256, SEC 1
	{privateKeyKind, "MIIEvAIBADANBgkqhkiG9w0BAQEF", "+/-_", 100, false}, // RSA 2048, PKCS #8
	{privateKeyKind, "MIIEvQIBADANBgkqhkiG9w0BAQEF", "+/-_", 100, false},
	{privateKeyKind, "MIIEvgIBADANBgkqhkiG9w0BAQEF", "+/-_", 100, false},
	{privateKeyKind, "MIIEogIBAAKCAQEA", "+/-_", 100, false}, // RSA 2048, PKCS #1
	{privateKeyKind, "MIIEowIBAAKCAQEA", "+/-_", 100, false},
	{privateKeyKind, "MIIEpAIBAAKCAQEA", "+/-_", 100, false},
	{privateKeyKind, "MIIEpQIBAAKCAQEA", "+/-_", 100, false},
	{privateKeyKind, "MIIJQgIBADANBgkqhkiG9w0BAQEF", "+/-_", 100, false}, // RSA 4096, PKCS #8
	{privateKeyKind, "MIIJQwIBADANBgkqhkiG9w0BAQEF", "+/-_", 100, false},
	{privateKeyKind, "MIIJKAIBAAKCAgEA", "+/-_", 100, false}, // RSA 4096, PKCS #1
	{privateKeyKind, "MIIJKQIBAAKCAgEA", "+/-_", 100, false},
	{"an OpenSSH private key", "b3BlbnNzaC1rZXktdjE", "+/", 81, false}, // "openssh-key-v1" in base64
}

var ownByFirst = func() (by [256][]ownForm) {
	for _, f := range ownForms {
		by[f.prefix[0]] = append(by[f.prefix[0]], f)
	}
	return by
}()

// own looks for a credential of ownForms at the start of s.
func own(s string) (kind string, found bool) {
	for _, prefix := range []string{`ast\_`, `asr\_`} { // as Markdown escapes it
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			s = prefix[:3] + "_" + rest[:min(len(rest), 1000)]
		}
	}
	for _, f := range ownByFirst[s[0]] {
		body, ok := strings.CutPrefix(s, f.prefix)
		if !ok {
			continue
		}
		body = gather(body, f.more, 400)
		secret := generated(body)
		if f.token {
			secret = mixed(body) && digits(body) >= 3
		}
		if len(body) >= f.min && secret && !published(body) {
			return f.kind, true
		}
	}
	return "", false
}

// name reports whether s lacks a kind of character that random strings of its length have.
func name(s string) bool {
	return len(s) >= 40 && (strings.ToLower(s) == s || strings.ToUpper(s) == s) ||
		len(s) >= 60 && !strings.ContainsAny(s, "0123456789")
}

// gather returns the letters, digits and characters in more at the start of s, at most max
// of them. It skips up to two line breaks, with the characters that programs and quotations
// put around them.
func gather(s, more string, max int) string {
	const piece, breaks, around = 20, 2, " \t\r\n\\\"'+>"
	n := run(s, more, max)
	out := s[:n]
	for range breaks {
		if n < piece || name(s[:n]) {
			break
		}
		rest := s[n:min(len(s), n+20)]
		between := len(rest) - len(strings.TrimLeft(rest, around))
		if strings.Count(rest[:between], "\n") != 1 && !strings.HasPrefix(rest, `\n`) {
			break
		}
		s = s[n:]
		if strings.HasPrefix(s, `\n`) {
			between = len(`\n`)
		}
		s = s[between:]
		n = run(s, more, max-len(out))
		out += s[:n]
	}
	return out
}
