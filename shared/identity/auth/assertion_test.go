package auth

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"
)

var (
	assertionKey = ed25519.NewKeyFromSeed(make([]byte, 32))
	audiences    = []string{"https://x.example", "https://x.example/oauth/token"}
	assertedAt   = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
)

type anyObject = map[string]any

// jwtOf signs a valid assertion with the given members changed; nil omits a member.
func jwtOf(head, claims anyObject) string {
	now := assertedAt.Unix()
	h := anyObject{"alg": "EdDSA", "kid": EncodeKey(assertionKey.Public().(ed25519.PublicKey)), "typ": "JWT"}
	c := anyObject{"iss": agentID, "sub": agentID, "aud": audiences[0], "iat": now, "exp": now + 60, "jti": "one"}
	for _, o := range []struct{ into, from anyObject }{{h, head}, {c, claims}} {
		maps.Copy(o.into, o.from)
		maps.DeleteFunc(o.into, func(_ string, v any) bool { return v == nil })
	}
	return signJWT(encode(h), encode(c))
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func signJWT(head, claims string) string {
	signed := EncodeKey([]byte(head)) + "." + EncodeKey([]byte(claims))
	return signed + "." + EncodeKey(ed25519.Sign(assertionKey, []byte(signed)))
}

func jwtOfSize(size int) string {
	for padding := size; padding > 0; padding-- {
		for more := range 3 {
			jwt := jwtOf(anyObject{"x": strings.Repeat("x", more)}, anyObject{"x": strings.Repeat("x", padding)})
			if len(jwt) == size {
				return jwt
			}
		}
	}
	panic("no assertion has this size")
}

func TestAssertion(t *testing.T) {
	now := assertedAt.Unix()
	for name, jwt := range map[string]string{
		"usual":             jwtOf(nil, nil),
		"RFC 9864":          jwtOf(anyObject{"alg": "Ed25519"}, nil),
		"no typ":            jwtOf(anyObject{"typ": nil}, nil),
		"token URL":         jwtOf(nil, anyObject{"aud": audiences[1]}),
		"aud a list":        jwtOf(nil, anyObject{"aud": []string{"https://y.example", audiences[1]}}),
		"five minutes":      jwtOf(nil, anyObject{"exp": now + 300}),
		"a fast clock":      jwtOf(nil, anyObject{"iat": now + 60, "exp": now + 120}),
		"a fast clock, nbf": jwtOf(nil, anyObject{"nbf": now + 60}),
		"the longest":       jwtOfSize(AssertionSize),
		"a fraction":        jwtOf(nil, anyObject{"iat": float64(now) + .25}),
		"just before exp":   jwtOf(nil, anyObject{"iat": now - 299, "exp": float64(now) + .001}),
		"an unknown claim":  jwtOf(anyObject{"x": 1}, anyObject{"x": "y", "nbf": now}),
		"a jti of 200":      jwtOf(nil, anyObject{"jti": strings.Repeat("j", 200)}),
		"a claim ISS":       jwtOf(nil, anyObject{"ISS": "ag_other"}),
	} {
		a, err := ParseAssertion(jwt, audiences, assertedAt)
		if err != nil {
			t.Errorf("%s: ParseAssertion = %v, want nil", name, err)
		} else if a.Agent != agentID || a.Key != EncodeKey(assertionKey.Public().(ed25519.PublicKey)) || a.ID == "" || !a.Expires.After(assertedAt) {
			t.Errorf("%s: ParseAssertion = %+v, want the agent %s with its key, an id and an expiry", name, a, agentID)
		}
	}

	good := jwtOf(nil, nil)
	head, rest, _ := strings.Cut(good, ".")
	claims, sig, _ := strings.Cut(rest, ".")
	other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("o", 32)))
	plainClaims := encode(anyObject{"iss": agentID, "sub": agentID, "aud": audiences[0], "iat": now, "exp": now + 60, "jti": "one"})
	plainHead := encode(anyObject{"alg": "EdDSA", "kid": EncodeKey(assertionKey.Public().(ed25519.PublicKey))})
	for name, c := range map[string]struct{ jwt, says string }{
		"empty":               {"", "three parts"},
		"two parts":           {head + "." + claims, "three parts"},
		"four parts":          {good + ".x", "three parts"},
		"too long":            {jwtOf(anyObject{"x": strings.Repeat("x", AssertionSize)}, nil), "three parts"},
		"a byte too long":     {jwtOfSize(AssertionSize + 1), "three parts"},
		"alg none":            {jwtOf(anyObject{"alg": "none"}, nil), "alg"},
		"alg none, unsigned":  {EncodeKey([]byte(`{"alg":"none"}`)) + "." + claims + ".", "alg"},
		"alg HS256":           {jwtOf(anyObject{"alg": "HS256"}, nil), "alg"},
		"alg in capitals":     {jwtOf(anyObject{"alg": "EDDSA"}, nil), "alg"},
		"no alg":              {jwtOf(anyObject{"alg": nil}, nil), "alg"},
		"ALG":                 {jwtOf(anyObject{"alg": nil, "ALG": "EdDSA"}, nil), "alg"},
		"alg a number":        {jwtOf(anyObject{"alg": 1}, nil), "header"},
		"crit":                {jwtOf(anyObject{"crit": []string{"b64"}, "b64": false}, nil), "crit"},
		"another typ":         {jwtOf(anyObject{"typ": "at+jwt"}, nil), "typ"},
		"no kid":              {jwtOf(anyObject{"kid": nil}, nil), "kid"},
		"a kid with padding":  {jwtOf(anyObject{"kid": EncodeKey(assertionKey.Public().(ed25519.PublicKey)) + "="}, nil), "kid"},
		"another kid":         {jwtOf(anyObject{"kid": EncodeKey(other.Public().(ed25519.PublicKey))}, nil), "signed"},
		"another's signature": {head + "." + claims + "." + EncodeKey(ed25519.Sign(other, []byte(head+"."+claims))), "signed"},
		"no signature":        {head + "." + claims + ".", "signed"},
		"a longer signature":  {good + "AA", "signed"},
		"padding":             {good + "==", "signed"},
		"a line break":        {head + "." + claims + "." + sig[:10] + "\n" + sig[10:], "signed"},
		"other claims":        {head + "." + EncodeKey([]byte(plainClaims+" ")) + "." + sig, "signed"},
		"header not JSON":     {signJWT("x", plainClaims), "header"},
		"header a list":       {signJWT("[]", plainClaims), "header"},
		"claims no object":    {signJWT(plainHead, `"x"`), "claims"},
		"data after claims":   {signJWT(plainHead, plainClaims+"{}"), "claims"},
		"claims cut off":      {signJWT(plainHead, plainClaims[:len(plainClaims)-1]), "claims"},
		"a claim twice":       {signJWT(plainHead, `{"iss":"ag_other",`+plainClaims[1:]), "claims"},
		"iat a string":        {jwtOf(nil, anyObject{"iat": "1"}), "claims"},
		"exp below 0":         {jwtOf(nil, anyObject{"exp": -1}), "claims"},
		"exp 1e300":           {jwtOf(nil, anyObject{"exp": 1e300}), "claims"},
		"exp 0":               {jwtOf(nil, anyObject{"exp": 0}), "expired"},
		"exp 1e11":            {jwtOf(nil, anyObject{"exp": int64(1e11)}), "300 s"},
		"exp above 1e11":      {jwtOf(nil, anyObject{"exp": int64(1e11) + 1}), "unix seconds"},
		"exp 2^50":            {jwtOf(nil, anyObject{"exp": int64(1) << 50}), "unix seconds"},
		"exp above 2^50":      {jwtOf(nil, anyObject{"exp": int64(1)<<50 + 1}), "claims"},
		"aud a number":        {jwtOf(nil, anyObject{"aud": 1}), "claims"},
		"no iss":              {jwtOf(nil, anyObject{"iss": nil}), "iss"},
		"no sub":              {jwtOf(nil, anyObject{"sub": nil}), "iss"},
		"no iss, no sub":      {jwtOf(nil, anyObject{"iss": nil, "sub": nil}), "iss"},
		"another sub":         {jwtOf(nil, anyObject{"sub": "ag_01j9z3k4m5n6p7q8r9s0t1v2w9"}), "iss"},
		"no aud":              {jwtOf(nil, anyObject{"aud": nil}), "aud"},
		"another aud":         {jwtOf(nil, anyObject{"aud": "https://y.example"}), "aud"},
		"aud with a slash":    {jwtOf(nil, anyObject{"aud": audiences[0] + "/"}), "aud"},
		"an empty aud":        {jwtOf(nil, anyObject{"aud": []string{}}), "aud"},
		"no iat":              {jwtOf(nil, anyObject{"iat": nil}), "iat"},
		"no exp":              {jwtOf(nil, anyObject{"exp": nil}), "exp"},
		"over five minutes":   {jwtOf(nil, anyObject{"exp": now + 301}), "300 s"},
		"milliseconds":        {jwtOf(nil, anyObject{"iat": now * 1000, "exp": (now + 60) * 1000}), "unix seconds"},
		"exp in milliseconds": {jwtOf(nil, anyObject{"exp": (now + 60) * 1000}), "unix seconds"},
		"expired":             {jwtOf(nil, anyObject{"iat": now - 60, "exp": now}), "expired"},
		"in the future":       {jwtOf(nil, anyObject{"iat": now + 61, "exp": now + 120}), "future"},
		"not before later":    {jwtOf(nil, anyObject{"nbf": now + 61}), "future"},
		"no jti":              {jwtOf(nil, anyObject{"jti": nil}), "jti"},
		"a jti of 201":        {jwtOf(nil, anyObject{"jti": strings.Repeat("j", 201)}), "jti"},
	} {
		a, err := ParseAssertion(c.jwt, audiences, assertedAt)
		if !errors.Is(err, ErrAssertion) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: ParseAssertion = %+v, %v, want an error with %q", name, a, err, c.says)
		}
		if err != nil && strings.Contains(c.jwt, ".") && sig != "" && strings.Contains(err.Error(), sig) {
			t.Errorf("%s: the error reveals the signature", name)
		}
	}
}

func FuzzAssertion(f *testing.F) {
	f.Add(jwtOf(nil, nil))
	f.Add(jwtOf(anyObject{"alg": "none"}, nil))
	f.Add("..")
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAssertion(s, audiences, assertedAt)
		if (err == nil) != (a != nil) || err == nil && a.Agent == "" {
			t.Errorf("ParseAssertion(%q) = %+v, %v, want either an assertion with an agent or an error", s, a, err)
		}
	})
}
