package text

import (
	"math/rand/v2"
	"testing"
)

func TestShortestSecrets(t *testing.T) {
	const letters, hexadecimal = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "0123456789abcdef"
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[rng.IntN(len(of))]
		}
		return string(b)
	}
	for _, c := range []struct {
		kind   string
		least  int
		prefix []string
	}{
		{"a GitHub token", 60, []string{"github_pat_"}},
		{"a GitHub token", 36, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}},
		{"a GitLab token", 20, []string{"glpat-"}},
		{"a Slack token", 20, []string{"xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"}},
		{"a Stripe key", 24, []string{"sk_live_", "rk_live_"}},
		{"a webhook secret", 24, []string{"whsec_"}},
		{"an Anthropic key", 32, []string{"sk-ant-"}},
		{"an OpenAI key", 32, []string{"sk-proj-"}},
		{"an API key", 32, []string{"sk-"}},
		{"a Google API key", 35, []string{"AIza"}},
		{"a Groq key", 40, []string{"gsk_"}},
		{"an xAI key", 60, []string{"xai-"}},
		{"a Hugging Face token", 34, []string{"hf_"}},
		{"an npm token", 36, []string{"npm_"}},
		{"a Google OAuth token", 40, []string{"ya29."}},
		{"a HashiCorp Vault token", 24, []string{"hvs."}},
		{"a PyPI token", 40, []string{"pypi-AgEIcHlwaS5vcmc"}},
		{"an access token of this service", 80, []string{"ast_"}},
		{"a refresh token of this service", 60, []string{"asr_"}},
		{privateKeyKind, 40, []string{"MC4CAQAwBQYDK2Vw", "MFMCAQEwBQYDK2Vw"}},
		{privateKeyKind, 64, []string{"302e020100300506032b6570"}},
		{privateKeyKind, 100, []string{
			"MIGHAgEAMBMGByqGSM49AgEG", "MHcCAQEEI", "MIIEvAIBADANBgkqhkiG9w0BAQEF", "MIIEvQIBADANBgkqhkiG9w0BAQEF", "MIIEvgIBADANBgkqhkiG9w0BAQEF",
			"MIIEogIBAAKCAQEA", "MIIEowIBAAKCAQEA", "MIIEpAIBAAKCAQEA", "MIIEpQIBAAKCAQEA", "MIIJQgIBADANBgkqhkiG9w0BAQEF",
			"MIIJQwIBADANBgkqhkiG9w0BAQEF", "MIIJKAIBAAKCAgEA", "MIIJKQIBAAKCAgEA",
		}},
		{"an OpenSSH private key", 81, []string{"b3BlbnNzaC1rZXktdjE"}},
	} {
		for _, prefix := range c.prefix {
			of := letters
			if prefix[0] == '3' {
				of = hexadecimal
			}
			for range 5 {
				body := random(c.least, of)
				if kind, found := Secrets("It is " + prefix + body); !found || kind != c.kind {
					t.Errorf("%s and %d characters (%s): got %q, found %t, want %q", prefix, c.least, body, kind, found, c.kind)
				}
				if kind, found := Secrets("It is " + prefix + body[1:]); found && kind == c.kind {
					t.Errorf("%s and %d characters (%s): got %q, want another kind or none", prefix, c.least-1, body[1:], kind)
				}
			}
		}
	}
}
