package seal

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"testing"
)

type ticket struct {
	Nonce string `json:"nonce"`
	Until int64  `json:"until"`
}

var (
	oldKey = bytes.Repeat([]byte{1}, MinKey)
	newKey = bytes.Repeat([]byte{2}, MinKey+7)
	sample = ticket{Nonce: "n-1 ünïcode", Until: 1767225600000}
)

func box(t testing.TB, keys ...[]byte) *Box {
	t.Helper()
	b, err := New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func sealed(t testing.TB, b *Box, purpose string, v any) string {
	t.Helper()
	token, err := b.Seal(purpose, v)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func refused(t testing.TB, b *Box, purpose, token string) {
	t.Helper()
	var got ticket
	if key, err := b.Open(purpose, token, &got); err != ErrBad || key != 0 || got != (ticket{}) {
		t.Errorf("Open(%.80q) = %+v, %d, %v, want no value, 0 and ErrBad", token, got, key, err)
	}
}

func TestSealAndOpen(t *testing.T) {
	b := box(t, oldKey)
	token := sealed(t, b, "challenge", sample)
	var got ticket
	if key, err := b.Open("challenge", token, &got); err != nil || key != 0 || got != sample {
		t.Errorf("Open = %+v, %d, %v, want the sealed value and key 0", got, key, err)
	}
	if strings.Contains(token, "=") || strings.Contains(token, "nonce") {
		t.Errorf("Seal = %q, want a token without padding or plain text", token)
	}
	if token == sealed(t, b, "challenge", sample) {
		t.Error("the same value sealed twice gives the same token")
	}
}

func TestRotation(t *testing.T) {
	before, during, after := box(t, oldKey), box(t, newKey, oldKey), box(t, newKey)
	old, fresh := sealed(t, before, "challenge", sample), sealed(t, during, "challenge", sample)
	var got ticket
	if key, err := during.Open("challenge", old, &got); err != nil || key != 1 || got != sample {
		t.Errorf("old token: Open = %+v, %d, %v, want the sealed value and key 1", got, key, err)
	}
	if key, err := during.Open("challenge", fresh, &got); err != nil || key != 0 {
		t.Errorf("new token: Open = %d, %v, want key 0", key, err)
	}
	if _, err := after.Open("challenge", fresh, &got); err != nil {
		t.Errorf("new token under the new key alone: Open = %v, want nil", err)
	}
	refused(t, after, "challenge", old)
	refused(t, before, "challenge", fresh)
	if !bytes.Equal(before.Derive(0, "puzzle"), during.Derive(1, "puzzle")) {
		t.Error("the old key derives other bytes after the rotation")
	}
}

func TestPurposesAreSeparate(t *testing.T) {
	b := box(t, oldKey)
	token := sealed(t, b, "challenge", sample)
	for _, purpose := range []string{"", "signup", "challenge ", "Challenge", "challenge/"} {
		refused(t, b, purpose, token)
	}
	seen := map[string]bool{}
	for _, purpose := range []string{"", "a", "b", "a/b", "challenge"} {
		for _, d := range [][]byte{b.Derive(0, purpose), b.expand(0, "seal", purpose), box(t, newKey).Derive(0, purpose)} {
			if len(d) != 32 || seen[string(d)] {
				t.Errorf("key for %q = %x, want 32 bytes that differ from the others", purpose, d)
			}
			seen[string(d)] = true
		}
	}
	d := b.Derive(0, "a")
	d[0]++
	if bytes.Equal(d, b.Derive(0, "a")) {
		t.Error("changing Derive's result changes later results")
	}
}

func TestEveryByteCounts(t *testing.T) {
	b := box(t, newKey, oldKey)
	token := sealed(t, b, "challenge", sample)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		for _, bit := range []byte{1, 0x80} {
			bad := bytes.Clone(raw)
			bad[i] ^= bit
			refused(t, b, "challenge", base64.RawURLEncoding.EncodeToString(bad))
		}
		refused(t, b, "challenge", base64.RawURLEncoding.EncodeToString(raw[:i]))
		refused(t, b, "challenge", base64.RawURLEncoding.EncodeToString(raw[i+1:]))
	}
}

func TestOneSpelling(t *testing.T) {
	b := box(t, oldKey)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for _, nonce := range []string{"", "x", "xx"} { // every length modulo 3
		token := sealed(t, b, "challenge", ticket{Nonce: nonce})
		body := token[:len(token)-1]
		opens := 0
		for _, c := range alphabet {
			var got ticket
			if _, err := b.Open("challenge", body+string(c), &got); err == nil {
				opens++
			}
		}
		if opens != 1 {
			t.Errorf("%d last characters give a token that opens, want 1", opens)
		}
		for _, bad := range []string{
			token + "=", token + "==", token + "\n", "\r\n" + token, token[:9] + "\n" + token[9:], " " + token,
			token + "A", body, body + "+", body + "/", "", "A", "!", "\x00", token + token,
		} {
			refused(t, b, "challenge", bad)
		}
	}
}

func TestSizes(t *testing.T) {
	b := box(t, oldKey)
	// 8 KiB of base64 are 6144 bytes: nonce and tag 28, quotation marks 2.
	most := strings.Repeat("x", 6144-28-2)
	token := sealed(t, b, "p", most)
	var got string
	if _, err := b.Open("p", token, &got); err != nil || got != most || len(token) != MaxToken {
		t.Errorf("Open of a token of %d bytes: got %d characters, %v, want %d, and a token of %d bytes", len(token), len(got), err, len(most), MaxToken)
	}
	if _, err := b.Seal("p", most+"x"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Seal of one character more = %v, want ErrTooLarge", err)
	}
	refused(t, b, "p", strings.Repeat("A", MaxToken+1))
	refused(t, b, "p", strings.Repeat("A", 1<<24))
}

func TestOpenIntoAnotherShape(t *testing.T) {
	b := box(t, oldKey)
	var n int
	if _, err := b.Open("p", sealed(t, b, "p", "text"), &n); err != ErrBad {
		t.Errorf("Open into an int = %v, want ErrBad", err)
	}
}

func TestRefusedKeysAndValues(t *testing.T) {
	for _, keys := range [][][]byte{{}, {nil}, {oldKey[1:]}, {oldKey, newKey[:31]}} {
		if _, err := New(keys...); err == nil {
			t.Errorf("New accepted the keys %x, want an error", keys)
		}
	}
	if _, err := box(t, oldKey).Seal("p", func() {}); err == nil {
		t.Error("Seal accepted a function")
	}
}

func TestConcurrentUse(t *testing.T) {
	b := box(t, newKey, oldKey)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			purpose := string(rune('a' + i%3))
			var got ticket
			if _, err := b.Open(purpose, sealed(t, b, purpose, sample), &got); err != nil || got != sample {
				t.Errorf("Open = %+v, %v, want the sealed value", got, err)
			}
		})
	}
	wg.Wait()
}

// made is sample, sealed once: the processes of a fuzz run need the same valid token.
const made = "dGlFSv5yv4LCg9OpFf_PfGKKdY0X2GI34MTWccJ3BVecIna14sha3I24qDDkYrDou4K4uh1mB3A2vswAVmjHXPjvL9BHHFJ1CXiC"

func TestTokensOutliveDeployments(t *testing.T) {
	var got ticket
	if key, err := box(t, newKey, oldKey).Open("challenge", made, &got); err != nil || key != 0 || got != sample {
		t.Errorf("Open = %+v, %d, %v, want the sealed value and key 0", got, key, err)
	}
}

func FuzzOpen(f *testing.F) {
	b := box(f, newKey, oldKey)
	token := made
	f.Add(token[:20], 3, "A")
	f.Add(token, 0, "=")
	f.Add("", 100, "")
	f.Fuzz(func(t *testing.T, free string, at int, put string) {
		if free != token {
			refused(t, b, "challenge", free)
		}
		if at < 0 || at > len(token) {
			return
		}
		mutated := token[:at] + put
		if len(mutated) < len(token) {
			mutated += token[len(mutated):]
		}
		if mutated != token {
			refused(t, b, "challenge", mutated)
		}
	})
}
