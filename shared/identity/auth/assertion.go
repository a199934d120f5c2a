package auth

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// An assertion is a JWT that an agent signs with its key and exchanges for a token (RFC
// 7523). This file parses it without a library: libraries do not know the algorithm's new
// name, Ed25519.

const (
	// AssertionMost bounds the life of an assertion, from iat to exp.
	AssertionMost = 5 * time.Minute
	// AssertionSize bounds the bytes of an assertion.
	AssertionSize = 4 << 10
	jtiMost       = 200 // bytes
)

// Assertion is a JWT with a valid signature and valid claims. Only the table knows
// whether the key belongs to the agent.
type Assertion struct {
	Agent   string // iss and sub
	Key     string // kid: the public key that it is signed with
	ID      string // jti
	Expires time.Time
}

// ErrAssertion matches the error of every refused assertion ([errors.Is]). The error's
// text is a predicate for the caller, such as "has expired".
var ErrAssertion = errors.New("assertion refused")

type refused string

func (r refused) Error() string        { return string(r) }
func (r refused) Is(target error) bool { return target == ErrAssertion }

func refuse(format string, args ...any) error { return refused(fmt.Sprintf(format, args...)) }

// ParseAssertion verifies a JWT's signature and claims. audiences are the accepted names
// of this service.
func ParseAssertion(jwt string, audiences []string, now time.Time) (*Assertion, error) {
	parts := strings.Split(jwt, ".")
	if len(jwt) > AssertionSize || len(parts) != 3 {
		return nil, refuse("is not a signed JWT: three parts of base64url, joined by dots, of at most %d bytes", AssertionSize)
	}
	var alg, kid, typ string
	head, err := members(parts[0])
	if err = errors.Join(err, head.read("alg", &alg), head.read("kid", &kid), head.read("typ", &typ)); err != nil {
		return nil, refuse("has a header that is not a JSON object in unpadded base64url")
	}
	key, err := ParseKey(kid)
	switch {
	case alg != "EdDSA" && alg != "Ed25519": // RFC 8037, RFC 9864
		return nil, refuse("has an alg in its header that is neither EdDSA nor Ed25519")
	case head["crit"] != nil:
		return nil, refuse("has a crit in its header; this service supports no extension")
	case typ != "" && !strings.EqualFold(typ, "JWT"):
		return nil, refuse("has a typ in its header that is not JWT")
	case err != nil:
		return nil, refuse("has a kid in its header that is not a public key: it %s", err)
	}
	sig, err := decode(parts[2])
	if err != nil || len(sig) != ed25519.SignatureSize || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), sig) {
		return nil, refuse("is not signed by the key in its kid")
	}
	claims, err := readClaims(parts[1])
	if err != nil {
		return nil, refuse("has claims that are not a JSON object with the types of RFC 7519")
	}
	if err := claims.check(audiences, now); err != nil {
		return nil, err
	}
	return &Assertion{Agent: claims.iss, Key: EncodeKey(key), ID: claims.jti, Expires: claims.exp.time()}, nil
}

type object map[string]json.RawMessage

// members reads a part's JSON object. Names are case-sensitive, unlike in encoding/json.
// Duplicates are refused: readers disagree on which one counts.
func members(part string) (object, error) {
	b, err := decode(part)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	o := object{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := t.(string)
		if o[name] != nil {
			return nil, errors.New("duplicate member")
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		o[name] = value
	}
	if _, err := dec.Token(); err != nil { // the end of the object
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the object")
	}
	return o, nil
}

func (o object) read(name string, v any) error {
	if o[name] == nil {
		return nil
	}
	return json.Unmarshal(o[name], v)
}

type claims struct {
	iss, sub, jti string
	aud           audience
	iat, exp, nbf *numericDate
}

func readClaims(part string) (*claims, error) {
	c := new(claims)
	o, err := members(part)
	return c, errors.Join(err,
		o.read("iss", &c.iss), o.read("sub", &c.sub), o.read("jti", &c.jti), o.read("aud", &c.aud),
		o.read("iat", &c.iat), o.read("exp", &c.exp), o.read("nbf", &c.nbf))
}

// check checks the claims (RFC 7523 3).
func (c *claims) check(audiences []string, now time.Time) error {
	latest := now.Add(Skew)
	switch {
	case c.iss == "" || c.iss != c.sub:
		return refuse("has an iss and a sub that are not both the agent's id")
	case !slices.ContainsFunc(audiences, func(a string) bool { return slices.Contains(c.aud, a) }):
		return refuse("has an aud that does not name this service: %s", strings.Join(audiences, " or "))
	case c.iat == nil || c.exp == nil:
		return refuse("has no iat, or no exp")
	case c.iat.milliseconds() || c.exp.milliseconds() || c.nbf.milliseconds():
		return refuse("has an iat, exp or nbf in milliseconds; they must be unix seconds, and the service's clock is at %d", now.Unix())
	case c.exp.time().Sub(c.iat.time()) > AssertionMost:
		return refuse("has an exp more than %d s after its iat", int(AssertionMost.Seconds()))
	case !c.exp.time().After(now):
		return refuse("has expired; the service's clock is at %d", now.Unix())
	case c.iat.time().After(latest), c.nbf != nil && c.nbf.time().After(latest):
		return refuse("has an iat or nbf in the future; the service's clock is at %d", now.Unix())
	case c.jti == "" || len(c.jti) > jtiMost:
		return refuse("has no jti of 1 to %d bytes", jtiMost)
	}
	return nil
}

type audience []string

func (a *audience) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(a))
}

// numericDate is seconds since 1970, possibly with a fraction (RFC 7519 2).
type numericDate float64

func (n *numericDate) time() time.Time { return time.UnixMilli(int64(float64(*n) * 1000)) }

const (
	// farthest bounds a date in seconds, so that its milliseconds do not overflow.
	farthest = 1 << 50
	// A number above secondsMost is taken for milliseconds: 1e11 ms is in 1973, 1e11 s
	// after the year 5000.
	secondsMost = 1e11
)

func (n *numericDate) milliseconds() bool { return n != nil && *n > secondsMost }

// UnmarshalJSON accepts only numbers that are valid times.
func (n *numericDate) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil || string(b) == "null" || f < 0 || f > farthest {
		return errors.New("not a valid time")
	}
	*n = numericDate(f)
	return nil
}
