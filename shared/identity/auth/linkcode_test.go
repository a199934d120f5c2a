package auth

import (
	"bytes"
	"crypto/rand"
	"regexp"
	"strings"
	"testing"
)

func TestLinkCode(t *testing.T) {
	form := regexp.MustCompile(`^lc_[0-9a-hjkmnp-tv-z]{20}$`)
	seen := map[string]bool{}
	for range 1000 {
		code, hash, err := MintLinkCode(rand.Reader)
		if err != nil || !form.MatchString(code) || strings.Contains(hash, code[3:]) {
			t.Fatalf("MintLinkCode = %q, %q, %v, want a code that matches %s, and a hash without it", code, hash, err, form)
		}
		if seen[code] || seen[hash] {
			t.Fatalf("code %q or its hash was minted twice", code)
		}
		seen[code], seen[hash] = true, true
		for _, pasted := range []string{code, " " + code + "\n", strings.ToUpper(code)} {
			if h, ok := LinkCodeHash(pasted); !ok || h != hash {
				t.Errorf("LinkCodeHash(%q) = %q, %v, want %q", pasted, h, ok, hash)
			}
		}
	}
	code, _, err := MintLinkCode(bytes.NewReader(bytes.Repeat([]byte{255}, 20)))
	if err != nil || code != "lc_zzzzzzzzzzzzzzzzzzzz" {
		t.Fatalf("MintLinkCode of all ones = %q, %v, want twenty z", code, err)
	}
	for _, other := range []string{
		"", "lc_", code[:22], code + "z", code[3:], "ast_" + code[3:], "lc_" + strings.Repeat("u", 20), "lc_zzzzzzzzzz zzzzzzzzz",
		"lc_01j9z3k4m5n6p7q8r9s0t1v2w3", // an id
	} {
		if _, ok := LinkCodeHash(other); ok {
			t.Errorf("LinkCodeHash accepted %q", other)
		}
	}
	if _, _, err := MintLinkCode(bytes.NewReader(make([]byte, 19))); err == nil {
		t.Error("MintLinkCode succeeded with too little randomness")
	}
}
