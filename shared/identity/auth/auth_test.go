package auth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"filippo.io/edwards25519"
)

var testKey = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32))

func TestMessage(t *testing.T) {
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := string(Message("GET", "/v1/me?a=1", 1790000000000, nil)); got != "GET\n/v1/me?a=1\n1790000000000\n"+empty {
		t.Errorf("Message of a GET = %q, want its four lines", got)
	}
	if got := string(Message("POST", "/x", -1, []byte("abc"))); got != "POST\n/x\n-1\nba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" {
		t.Errorf("Message of a POST = %q, want its four lines", got)
	}
}

func TestOneSpelling(t *testing.T) {
	pub := testKey.Public().(ed25519.PublicKey)
	message := []byte("m")
	sig := b64.EncodeToString(ed25519.Sign(testKey, message))
	if _, err := Verify(pub, sig, message); err != nil {
		t.Fatal(err)
	}
	key := EncodeKey(pub)
	for name, other := range map[string]func(string) string{
		"padded":         func(s string) string { return s + strings.Repeat("=", 4-len(s)%4) },
		"a newline":      func(s string) string { return s[:5] + "\n" + s[5:] },
		"ends in CR LF":  func(s string) string { return s + "\r\n" },
		"a space":        func(s string) string { return " " + s },
		"loose bits":     func(s string) string { return s[:len(s)-1] + string(next(s[len(s)-1])) },
		"empty":          func(string) string { return "" },
		"short":          func(s string) string { return s[:len(s)-2] },
		"long":           func(s string) string { return s + "AAAA" },
		"other alphabet": func(s string) string { return "+/" + s[2:] },
	} {
		if _, err := Verify(pub, other(sig), message); !errors.Is(err, ErrSigForm) {
			t.Errorf("signature, %s: Verify = %v, want ErrSigForm", name, err)
		}
		if _, err := ParseKey(other(key)); !errors.Is(err, ErrKeyForm) {
			t.Errorf("key, %s: ParseKey = %v, want ErrKeyForm", name, err)
		}
	}
	// A lax verifier accepts S + L in place of S (RFC 8032 5.1.7).
	raw, _ := b64.DecodeString(sig)
	l, _ := hex.DecodeString("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
	carry := 0
	for i := range l {
		carry += int(raw[32+i]) + int(l[i])
		raw[32+i], carry = byte(carry), carry>>8
	}
	if _, err := Verify(pub, b64.EncodeToString(raw), message); !errors.Is(err, ErrSignature) {
		t.Errorf("Verify of a malleated signature = %v, want ErrSignature", err)
	}
	if err := VerifyBody(pub, sig+"==", "m"); err != nil {
		t.Errorf("VerifyBody with padding = %v, want nil", err)
	}
	if err := VerifyBody(pub, sig[:5]+"\n"+sig[5:], "m"); !errors.Is(err, ErrSigForm) {
		t.Errorf("VerifyBody with a newline = %v, want ErrSigForm", err)
	}
}

// next returns the base64url character whose value differs from c's in the last bit only. At
// the end of an encoded key or signature, this bit encodes nothing.
func next(c byte) byte {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return alphabet[strings.IndexByte(alphabet, c)^1]
}

func TestNewKey(t *testing.T) {
	pub := testKey.Public().(ed25519.PublicKey)
	for _, s := range []string{EncodeKey(pub), base64.URLEncoding.EncodeToString(pub)} {
		if k, err := NewKey(s); err != nil || !slices.Equal(k, pub) {
			t.Errorf("NewKey(%s) = %x, %v, want %x", s, k, err, pub)
		}
	}
	for _, point := range []string{ // the eight points of small order, and two other spellings of the first
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0000000000000000000000000000000000000000000000000000000000000080",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0100000000000000000000000000000000000000000000000000000000000080",
		"f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // y = p + 3
		"0200000000000000000000000000000000000000000000000000000000000000", // not on the curve
	} {
		b, _ := hex.DecodeString(point)
		if _, err := NewKey(EncodeKey(b)); !errors.Is(err, ErrKeyPoint) {
			t.Errorf("NewKey(%s) = %v, want ErrKeyPoint", point, err)
		}
	}
	// A key of mixed order is the sum of a usable key and one of small order.
	torsion, _ := hex.DecodeString("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
	small, err := new(edwards25519.Point).SetBytes(torsion)
	if err != nil {
		t.Fatal(err)
	}
	mixed, _ := new(edwards25519.Point).SetBytes(pub)
	if _, err := NewKey(EncodeKey(mixed.Add(mixed, small).Bytes())); err != nil {
		t.Errorf("NewKey of mixed order = %v, want nil", err)
	}
	for _, s := range []string{"", "AAAA", EncodeKey(pub)[:42], EncodeKey(pub) + "A", strings.Repeat("!", 43)} {
		if _, err := NewKey(s); !errors.Is(err, ErrKeyForm) {
			t.Errorf("NewKey(%q) = %v, want ErrKeyForm", s, err)
		}
	}
}

const (
	agentID = "ag_01j9z3k4m5n6p7q8r9s0t1v2w3"
	tokenID = "tk_01j9z3k4m5n6p7q8r9s0t1v2w4"
)

func TestToken(t *testing.T) {
	value, hash, err := MintToken(agentID, tokenID, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseToken(value)
	if err != nil || p.Agent != agentID || p.ID != tokenID || !p.Is(hash) {
		t.Fatalf("ParseToken = %+v, %v, want the minted ids", p, err)
	}
	if len(value) != len(TokenPrefix)+92 || bytes.Contains([]byte(value), hash) {
		t.Errorf("MintToken = %q, want %d characters that do not contain the hash", value, len(TokenPrefix)+92)
	}
	other, _, _ := MintToken(agentID, tokenID, rand.Reader)
	if q, err := ParseToken(other); err != nil || q.Is(hash) || p.Is(nil) || p.Is(hash[:31]) {
		t.Errorf("another token: ParseToken = %v, Is(first hash) = %t, Is(nil) = %t, Is(part of the hash) = %t, want nil and false", err, q.Is(hash), p.Is(nil), p.Is(hash[:31]))
	}
	for i := range value {
		for _, c := range []string{"", "0", "z", "-", value[i:i+1] + value[i:i+1]} {
			if damaged := value[:i] + c + value[i+1:]; damaged != value {
				if _, err := ParseToken(damaged); err == nil {
					t.Errorf("ParseToken accepted a token with %q in place of character %d", c, i)
				}
			}
		}
	}
	for _, size := range []int{1, 91, 93} {
		if p, err := ParseToken(TokenPrefix + strings.Repeat("0", size)); !errors.Is(err, ErrToken) {
			t.Errorf("ParseToken of %d zeros = %+v, %v, want ErrToken", size, p, err)
		}
	}
	// The token of such ids is padded to its length with leading zeros.
	low, hash, err := MintToken("ag_00000000000000000000000000", "tk_00000000000000000000000000", bytes.NewReader(make([]byte, 32)))
	if err != nil || len(low) != len(value) {
		t.Fatalf("MintToken of zero ids = %q, %v, want %d characters", low, err, len(value))
	}
	if p, err := ParseToken(low); err != nil || !p.Is(hash) {
		t.Errorf("ParseToken of zero ids = %+v, %v, want the minted token", p, err)
	}
	if _, _, err := MintToken("ag_nonsense", tokenID, rand.Reader); err == nil {
		t.Error("MintToken accepted an invalid id")
	}
	if _, _, err := MintToken(agentID, tokenID, bytes.NewReader(make([]byte, 31))); err == nil {
		t.Error("MintToken succeeded with too little randomness")
	}
}

func TestTokenOfAConnection(t *testing.T) {
	pub := EncodeKey(bytes.Repeat([]byte{7}, 32))
	const grant, other = "gr_01j9z3k4m5n6p7q8r9s0t1v2w3", "gr_01j9z3k4m5n6p7q8r9s0t1v2w4"
	for _, on := range []Hangs{
		{Grant: grant}, {Grant: grant, Token: tokenID}, {Grant: grant, Key: pub}, {Grant: grant, Other: other}, {Key: pub},
	} {
		value, hash, err := on.MintToken(agentID, tokenID, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParseToken(value)
		if err != nil || p.On != on || p.Agent != agentID || p.ID != tokenID || !p.Is(hash) {
			t.Errorf("ParseToken(%s) = %+v, %v, want %+v", value, p, err, on)
		}
		for i := len(TokenPrefix); i < len(value); i++ {
			damaged := []byte(value)
			damaged[i] = map[bool]byte{true: '1', false: '0'}[value[i] == '0']
			if _, err := ParseToken(string(damaged)); err == nil {
				t.Fatalf("ParseToken accepted a token with the character %d changed", i)
			}
		}
	}
	for _, on := range []Hangs{{Grant: "gr_x"}, {Grant: grant, Token: "tk_x"}, {Grant: grant, Key: "x"}, {Grant: grant, Other: "gr_"}, {Key: "x"}} {
		if _, _, err := on.MintToken(agentID, tokenID, rand.Reader); err == nil {
			t.Errorf("MintToken of %+v succeeded, want an error", on)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	value, _, _ := MintToken(agentID, tokenID, bytes.NewReader(bytes.Repeat([]byte{9}, 32)))
	f.Add(value)
	chained, _, _ := Hangs{Grant: "gr_01j9z3k4m5n6p7q8r9s0t1v2w3", Token: tokenID}.MintToken(agentID, tokenID, bytes.NewReader(bytes.Repeat([]byte{9}, 32)))
	f.Add(chained)
	f.Add(TokenPrefix + strings.Repeat("0", 92))
	f.Add(TokenPrefix + strings.Repeat("Z", 92))
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseToken(s)
		if err == nil && (len(p.Agent) != 29 || len(p.ID) != 29 || (p.On == Hangs{}) != (len(s) == len(value))) {
			t.Errorf("ParseToken(%q) = %+v, want two ids of 29 characters, and an empty p.On if and only if the token has %d characters", s, p, len(value))
		}
	})
}

func TestToken_InvalidFirstDigit(t *testing.T) {
	const agent, token = "ag_00000000000000000000000001", "to_00000000000000000000000001" // their token begins with the digit 0
	value, _, err := MintToken(agent, token, rand.Reader)
	if err != nil || !strings.HasPrefix(value, TokenPrefix+"0") {
		t.Fatalf("MintToken = %q, %v, want a token that begins with 0", value, err)
	}
	if p, err := ParseToken(value); err != nil || p.Agent != agent {
		t.Fatalf("ParseToken(%q) = %+v, %v, want the agent %s", value, p, err, agent)
	}
	for _, c := range "+-_ :`{[" {
		if _, err := ParseToken(strings.Replace(value, "0", string(c), 1)); !errors.Is(err, ErrToken) {
			t.Errorf("ParseToken with %q as the first digit: got %v, want %v", c, err, ErrToken)
		}
	}
}

// The largest id of an agent sets the highest bits of a token.
func TestToken_LargestID(t *testing.T) {
	const agent = "ag_7zzzzzzzzzzzzzzzzzzzzzzzzz"
	value, _, err := MintToken(agent, tokenID, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := ParseToken(value); err != nil || p.Agent != agent {
		t.Errorf("ParseToken(%q) = %+v, %v, want the agent %s", value, p, err, agent)
	}
}

func TestZeroBits(t *testing.T) {
	most := 0
	for i := range 5000 {
		s := strconv.Itoa(i)
		sum := sha256.Sum256([]byte(s))
		got := ZeroBits(s)
		if want := 256 - new(big.Int).SetBytes(sum[:]).BitLen(); got != want {
			t.Errorf("ZeroBits(%s) = %d, want %d", s, got, want)
		}
		most = max(most, got)
	}
	if most < 9 {
		t.Errorf("the most zero bits among 5000 hashes: got %d, want at least 9", most)
	}
}
