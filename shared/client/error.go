package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"agentsocial/shared/wire"
)

// Error is a refusal by the service: the envelope of spec "Errors", and the
// additional members of some codes. Get it with [errors.As].
type Error struct {
	Status  int
	Code    string // stable, documented at Docs; "" if the answer is not from the service
	Message string // what is wrong with which value
	Hint    string // what to do next
	Docs    string // URL of the code's documentation

	// Each of these is set only with the codes beside it. RetryAt is also set from
	// Retry-After, except in an OAuth error.
	RetryAt    time.Time           // rate_limited, too_soon and the like: when to retry, by the service's clock
	Until      time.Time           // suspended, recovery_hold: when it ends
	ServerTime time.Time           // bad_timestamp: the service's clock
	Fields     []wire.FieldProblem // invalid: the wrong fields
	Existing   json.RawMessage     // duplicate_post and others: what exists already
	Scope      string              // scope_missing: the scope that the token lacks
	AgentID    string              // bad_proof, if the recovery code was right: the agent's id
	Balance    int64               // insufficient_credits: the balance in micro-USD
	Price      int64               // insufficient_credits: the price in micro-USD

	RequestID string // to report when Code is internal
}

func (e *Error) Error() string {
	code := e.Code
	if code == "" {
		code = strconv.Itoa(e.Status)
	}
	return code + ": " + e.Message
}

// IsCode reports whether err is a refusal with this code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// readError makes a refusal from an answer. now is the service's time.
func readError(a *answer, now time.Time) *Error {
	var existing json.RawMessage
	envelope := wire.ErrorEnvelope{Error: wire.ErrorDetails{Existing: &existing}}
	err := json.Unmarshal(a.body, &envelope)
	v := &envelope.Error
	e := &Error{
		Status: a.status, Code: v.Code, Message: v.Message, Hint: v.Hint, Docs: v.Docs,
		RetryAt: unixMS(v.RetryAt), Until: unixMS(v.Until), ServerTime: unixMS(v.ServerTime),
		Fields: v.Fields, Existing: existing, Scope: v.Scope, AgentID: v.AgentID, Balance: value(v.Balance), Price: value(v.Price),
		RequestID: a.header.Get("x-request-id"),
	}
	if e.inOAuth(a.body) {
		return e
	}
	if err != nil || e.Code == "" { // from a gateway or a proxy
		e.Code = ""
		e.Message = fmt.Sprintf("%s, without the service's envelope", http.StatusText(a.status))
	}
	if wait := a.retryAfter(); e.RetryAt.IsZero() && wait > 0 {
		e.RetryAt = now.Add(wait)
	}
	return e
}

// inOAuth reads a refusal in the form of RFC 6749 5.2, and reports whether body is one.
func (e *Error) inOAuth(body []byte) bool {
	var plain struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		URI         string `json:"error_uri"`
	}
	if json.Unmarshal(body, &plain) != nil || plain.Error == "" {
		return false
	}
	e.Code, e.Message, e.Docs = plain.Error, plain.Description, plain.URI
	return true
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func unixMS(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}
