package text

import (
	"strings"
	"testing"
	"time"
)

// The strings are put together from pieces, so that secret scanners do not report this
// file.
const (
	random20 = "Qm7xT2kVb9" + "Zr4WnLc8Ds"
	random36 = random20 + "Jh5pYf3Gt6" + "Ea1RuM"
	random64 = random36 + "vK0oXi9SqB" + "w2NdCz7Ul4" + "TgPe8jFy"
	hex32    = "9f86d081884c7d65" + "9a2feaa0c55ad015"
	aws40    = "8kJq/2Lm+Zx9Wv3Ty" + "Rb7Nc1Pd5Hf4Gs6Ua0EiowX"
	header   = "eyJhbGciOiJFZERTQSIs" + "InR5cCI6IkpXVCJ9"
	claims   = "eyJzdWIiOiJmb3gifQ"
	line     = random64 + "\n" + random64 + "\n"
)

func TestSecretsFound(t *testing.T) {
	for in, want := range map[string]string{
		"-----BEGIN PRIVATE KEY-----\n" + line + "-----END PRIVATE KEY-----":                                      "a private key",
		"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + hex32 + "\n\n" + line: "a private key",
		"-----BEGIN EC PRIVATE KEY-----\\n" + random64 + "\\n-----END":                                            "a private key",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + line:                                                        "a private key",
		"see:\n> -----BEGIN OPENSSH PRIVATE KEY-----\r\n> b3BlbnNzaC1rZXktdjE" + line:                             "an OpenSSH private key",
		"b3BlbnNzaC1rZXktdjE" + random64 + random64:                                                               "an OpenSSH private key",
		"id AKIA" + "2E7QXJ5LMNWR4TPZ":                                                                            "an AWS access key id",
		"ASIA" + "2E7QXJ5LMNWR4TPZ,":                                                                              "an AWS access key id",
		"AWS_SECRET_ACCESS_KEY=" + aws40:                                                                          "an AWS secret access key",
		"aws_secret_access_key = \"" + aws40 + "\"":                                                               "an AWS secret access key",
		`{"SecretAccessKey": "` + aws40 + `"}`:                                                                    "an AWS secret access key",
		"ghp_" + random36:                                                                                         "a GitHub token",
		"https://x:gho_" + random36 + "@github.com":                                                               "a GitHub token",
		"GH=ghs_" + random36:                                                                                      "a GitHub token",
		`A=1\nghp_` + random36:                                                                                    "a GitHub token",
		"你好ghp_" + random36:                                                                                       "a GitHub token",
		"github_pat_" + random20 + "22_" + random64:                                                               "a GitHub token",
		"glpat-" + random20:                                                                                       "a GitLab token",
		"xoxb-123456789012-1234567890123-" + random20 + "abcd":                                                    "a Slack token",
		"sk_live_" + random36:                                                                                     "a Stripe key",
		"rk_live_" + random36:                                                                                     "a Stripe key",
		"whsec_" + random36:                                                                                       "a webhook secret",
		"sk-ant-api03-" + random36 + "-" + random36 + "_AA":                                                       "an Anthropic key",
		"sk-proj-" + random36 + "_" + random36:                                                                    "an OpenAI key",
		"sk-" + random36:                                                                                          "an API key",
		"sk-" + hex32:                                                                                             "an API key",
		"sk-or-v1-" + hex32 + hex32:                                                                               "an API key",
		"AIza" + random36[:35]:                                                                                    "a Google API key",
		"gsk_" + random36 + random20:                                                                              "a Groq key",
		"xai-" + random64 + random20:                                                                              "an xAI key",
		"hf_" + random36[:34]:                                                                                     "a Hugging Face token",
		"npm_" + random36:                                                                                         "an npm token",
		"Bearer " + header + "." + claims + "." + random64:                                                        "a JSON Web Token",
		"t=" + header + "." + claims + "." + random64 + ".":                                                       "a JSON Web Token",
		"use ast_" + random64 + random36:                                                                          "an access token of this service",
		"asr_" + random64 + "!":                                                                                   "a refresh token of this service",
		"paste lc_twqnekcrjmpkhsskcpvw there":                                                                     "a link code of this service", // one in 1 800 link codes has no digit
		"LC_8WQNEKCRJMPKHSSKCPVW":                                                                                 "a link code of this service",
	} {
		if kind, found := Secrets(in); !found || kind != want {
			t.Errorf("Secrets(%q) = %q, %v, want %q, true", in, kind, found, want)
		}
		if kind, _ := Secrets("before " + in); kind != want {
			t.Errorf("Secrets of %q after a word = %q, want %q", in, kind, want)
		}
	}
}

func TestSecretsPass(t *testing.T) {
	for _, in := range []string{
		"", "hello",
		"OpenAI keys start with sk- or sk-proj-, Anthropic's with sk-ant-api03-.",
		"sk-…", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-" + strings.Repeat("*", 40),
		"sk-your-key-goes-here-and-nowhere-else-please", "sk-how-we-moved-42-services-to-Kubernetes-in-2024",
		"a risk-" + random36, "ask-" + random36, // part of a longer word
		"ghp_", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "ghp_your_token", "ghp_" + random20,
		"my_ghp_" + random36, "github_pat_11ABC...",
		"AKIA" + "IOSFODNN7EXAMPLE", "AKIA", "AKIA****************", "ASIAPACIFICCONFERENCE",
		"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
		"the secret access key is forty characters long", "secret_access_key: ${AWS_SECRET}",
		"The header is -----BEGIN PRIVATE KEY----- and then base64.",
		"-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
		"-----BEGIN PRIVATE KEY-----\n<your key here, in base64, sixty-four a line>\n-----END PRIVATE KEY-----",
		"-----BEGIN PUBLIC KEY-----\n" + line + "-----END PUBLIC KEY-----",
		"-----BEGIN CERTIFICATE-----\n" + line, "-----BEGIN ",
		"A JWT starts with eyJhbGciOi", header + "." + claims, header + "." + claims + ".sig",
		"eyJ" + random36 + "." + claims + "." + random64,
		"xoxb-your-bot-token-from-slack", "sk_live_...", "sk_live_", "sk_test_123", "whsec_...",
		"AIza" + random20, "AIza" + random64,
		"ast_", "ast.Node", "ast_generic_expression_tree_visitor_for_version_2_of_the_language",
		"ag_01j9z3k4m5n6p7q8r9s0t1v2w3", "lc_01j9z3k4m5n6p7q8r9s0t1v2w3", "lc_internationalization", "lc_" + random20, "lc_xxxxxxxxxxxxxxxxxxxx", "LC_ALL",
		"sha256 " + hex32 + hex32, "commit 9f86d081884c7d659a2feaa0c55ad0159f86d081",
		"https://example.com/a/" + random64,
	} {
		if kind, found := Secrets(in); found {
			t.Errorf("Secrets(%q): got kind %q, want none", in, kind)
		}
	}
}

// Four times as much input may take at most eight times as long, or one second. Quadratic
// time would take sixteen times as long.
func TestSecretsTakeLinearTime(t *testing.T) {
	const size = 256 << 10
	pieces := []string{"seed ", "private key ", "secret\n", "a://b:c1@", "://", `"d":"`, `"d":"` + random64, ":AA", "12345678:AA", "_lc_", "ast_" + random20 + "\n", "asr_-"}
	for _, f := range ownForms {
		pieces = append(pieces, f.prefix)
	}
	for _, rules := range leaks() {
		for _, l := range rules {
			pieces = append(pieces, " "+l.literal)
		}
	}
	for _, piece := range append(pieces, []string{
		"a", "sk-", "sk-ant-", "eyJ", "eyJ-", "eyJ.", "eyJ.eyJ.", header + ".", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----",
		"secretaccesskey", "secret_access_key" + strings.Repeat("=", 60), "AKIA", "b3BlbnNzaC1rZXktdjE", "é",
	}...) {
		took := func(size int) time.Duration {
			body, start := strings.Repeat(piece, size/len(piece)), time.Now()
			Secrets(body)
			return time.Since(start)
		}
		slow := func() bool {
			all := took(size)
			return all > time.Second && all > 8*took(size/4)
		}
		times := 0
		for times < 3 && slow() { // other work of the machine may slow a single run
			times++
		}
		if times == 3 {
			t.Errorf("%d KiB of %q: three runs took over 1 s and over eight times as long as a quarter of the text, want at most 1 s or eight times", size>>10, piece)
		}
	}
}

func TestLeaks(t *testing.T) {
	n := 0
	for first, rules := range leaks() {
		for _, l := range rules {
			n++
			if l.expr() == nil || int(l.literal[0]) != first || strings.ToLower(l.literal) != l.literal {
				t.Errorf("rule %q: got the literal %q, want it in lower case, first byte %c, with an expression", l.kind, l.literal, first)
			}
		}
	}
	if n < 60 {
		t.Errorf("leaks.txt: got %d rules, want at least 60", n)
	}
}

func FuzzSecrets(f *testing.F) {
	f.Add("sk-ant-api03-", "x")
	f.Add("-----BEGIN PRIVATE KEY-----\n", line)
	f.Add(header+"."+claims+".", random64)
	f.Fuzz(func(t *testing.T, a, b string) {
		kind, found := Secrets(a)
		if found != (kind != "") {
			t.Errorf("Secrets(%q) = %q, %v, want a kind exactly if found", a, kind, found)
		}
		if _, still := Secrets(a + "\n\n" + b); found && !still {
			t.Errorf("Secrets(%q) found a secret, but none before %q; want both found", a, b)
		}
	})
}
