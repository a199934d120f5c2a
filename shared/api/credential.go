package api

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type credKind int

const (
	credNone credKind = iota
	credSig
	credBearer
)

// credential is a request's credential, checked as far as possible without the table.
type credential struct {
	kind   credKind
	pub    string // base64url public key of a signature
	ts     int64  // the signature's timestamp, unix ms
	digest string // of the signature; names the request's record in the guard item
	token  auth.ParsedToken
}

// signing lists the headers of a signed request; the last one is optional.
var signing = [...]string{auth.HeaderKey, auth.HeaderTS, auth.HeaderSig, auth.HeaderID}

var canonical = func() map[string]string {
	keys := map[string]string{}
	for _, name := range signing {
		keys[name] = http.CanonicalHeaderKey(name)
	}
	return keys
}()

func audience(u *url.URL) string {
	if u.RawQuery == "" {
		return ""
	}
	return u.Query().Get("aud")
}

// sendToken is the hint where only a token is accepted.
const sendToken = "Send `Authorization: Bearer ast_…`: a token comes from OAuth or from `POST /v1/me/tokens`."

// credential reads a request's credential and verifies a signature. It does not read the
// table, so that a forged signature costs no read.
func (s *Server) credential(c *Call, r *http.Request, raw Raw, body []byte) error {
	h := func(name string) string {
		if values := r.Header[canonical[name]]; len(values) > 0 {
			return values[0]
		}
		return ""
	}
	authorization := r.Header.Get("Authorization")
	if c.e.Foreign.NoBearer && isBearer(authorization) { // clients send even expired tokens along
		authorization = ""
	}
	var missing []string
	for _, name := range signing[:3] {
		if h(name) == "" {
			missing = append(missing, name)
		}
	}
	signed := len(missing) < 3 || h(auth.HeaderID) != "" && authorization == ""
	switch {
	case signed && authorization != "":
		return Fail(BadSignature, "The request carries both a signature and an Authorization header.").
			WithHint("Send one of the two.")
	case authorization != "" && c.e.Foreign.NoBearer:
		return Fail(InvalidClient, "The header Authorization authenticates a client by a secret; clients of this service have none.").
			WithHint("Send no `Authorization`: clients here are public, and `client_id` is a parameter.")
	case authorization != "":
		return c.bearer(authorization)
	case signed && c.e.Auth.Bearer:
		return Fail(Unauthenticated, "%s accepts only a bearer token, but the request is signed.", c.e.Route).WithHint(sendToken)
	case !signed && c.e.Auth.Bearer:
		return Fail(Unauthenticated, "%s takes a bearer token and none was sent.", c.e.Route).WithHint(sendToken)
	case !signed:
		if c.e.Auth.Needed() {
			return Fail(Unauthenticated, "%s needs a credential and none was sent.", c.e.Route)
		}
		return nil
	case len(missing) > 0:
		return Fail(Unauthenticated, "The signature is incomplete. Missing: %s.", strings.Join(missing, " and "))
	}

	for _, name := range signing {
		if len(r.Header[canonical[name]]) > 1 || strings.Contains(h(name), ",") { // the gateway joins repeated headers with commas
			return Fail(BadSignature, "The header %s is sent more than once.", name)
		}
	}
	ts, err := strconv.ParseInt(h(auth.HeaderTS), 10, 64)
	if err != nil || strconv.FormatInt(ts, 10) != h(auth.HeaderTS) {
		e := Fail(BadTimestamp, "%s must be unix time in milliseconds, as an integer.", auth.HeaderTS)
		e.ServerTime = c.Time
		return e
	}
	if d := c.Time.UnixMilli() - ts; d > auth.Skew.Milliseconds() || d < -auth.Skew.Milliseconds() {
		e := Fail(BadTimestamp, "%s is %s the server's clock; 60 s is the limit.", auth.HeaderTS, skew(d))
		e.ServerTime = c.Time
		return e
	}
	key, err := auth.ParseKey(h(auth.HeaderKey))
	if err != nil {
		return Fail(BadSignature, "%s %s.", auth.HeaderKey, err)
	}
	sig, err := auth.Verify(key, h(auth.HeaderSig), auth.Message(r.Method, raw.PathAndQuery(), ts, body))
	if errors.Is(err, auth.ErrSigForm) {
		return Fail(BadSignature, "%s %s.", auth.HeaderSig, err)
	}
	if err != nil {
		return Fail(BadSignature, "The signature does not verify for this method, path and query, timestamp and body.")
	}
	if aud := audience(r.URL); aud != "" && aud != s.host {
		return Fail(BadSignature, "The signed query is for aud=%q; this service is %s.", aud, s.host).
			WithHint("If it is meant for this service, sign it again with `aud=%s`, or without `aud`.", s.host)
	}
	if agent := h(auth.HeaderID); agent != "" {
		if !id.Agent.Valid(agent) {
			return Fail(UnknownKey, "%s is not an agent id.", auth.HeaderID)
		}
		c.agent = agent
	}
	sum := sha256.Sum256(sig)
	c.cred = credential{kind: credSig, pub: auth.EncodeKey(key), ts: ts, digest: tables.Digest(sum[:])}
	return nil
}

func skew(ms int64) string {
	side := " behind"
	if ms < 0 {
		side = " ahead of"
	}
	const day = 24 * 60 * 60 * 1000
	if ms > day || ms < -day {
		return "more than a day" + side
	}
	return (time.Duration(max(ms, -ms)) * time.Millisecond).String() + side
}

func isBearer(authorization string) bool {
	scheme, _, _ := strings.Cut(authorization, " ")
	return strings.EqualFold(scheme, "Bearer")
}

func (c *Call) bearer(authorization string) error {
	if !isBearer(authorization) {
		return Fail(BadToken, "The Authorization header does not begin with Bearer.")
	}
	_, value, _ := strings.Cut(authorization, " ")
	token, err := auth.ParseToken(strings.TrimSpace(value))
	if err != nil {
		return Fail(BadToken, "The bearer token %s.", err)
	}
	c.cred, c.agent = credential{kind: credBearer, token: token}, token.Agent
	return nil
}
