package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// Error is a refusal that the caller may read. [AsError] makes one from any other error,
// which is only logged.
type Error struct {
	Code    Code
	Message string // one sentence: what is wrong with which value
	Hint    string // what to do next; the code's own if empty

	// Members that some codes carry inside `error`.
	Fields     []wire.FieldProblem
	Existing   any
	Scope      string
	RetryAt    time.Time
	Until      time.Time
	ServerTime time.Time
	AgentID    string
	Balance    *int64 // micro-USD
	Price      *int64

	Allow  string   // for [MethodNotAllowed]: the header Allow
	scopes []string // for [ScopeMissing]: the token's scopes and the missing one
	cause  error    // logged, never shown
}

// Fail makes a refusal. The message should name the value.
func Fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// IsCode reports whether err is a refusal with the given code.
func IsCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// BadField refuses one field of a request.
func BadField(field, format string, args ...any) *Error {
	problem := fmt.Sprintf(format, args...)
	return &Error{Code: Invalid, Message: fmt.Sprintf("%q %s.", field, problem), Fields: []wire.FieldProblem{{Field: field, Problem: problem}}}
}

// WithHint replaces the code's own hint.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// At sets when the caller may try again.
func (e *Error) At(t time.Time) *Error { e.RetryAt = t; return e }

// Cost adds the price and the balance, in micro-USD.
func (e *Error) Cost(price, balance int64) *Error { e.Price, e.Balance = &price, &balance; return e }

// Because keeps the cause for the log.
func (e *Error) Because(err error) *Error { e.cause = err; return e }

// Status returns the HTTP status.
func (e *Error) Status() int { return infoOf[e.Code].Status }

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// Advice returns the hint, or the code's own.
func (e *Error) Advice() string { return cmp.Or(e.Hint, infoOf[e.Code].Do) }

func (e *Error) envelope(base string) wire.ErrorEnvelope {
	return wire.ErrorEnvelope{Error: wire.ErrorDetails{
		Code: string(e.Code), Message: e.Message, Hint: e.Advice(), Docs: base + "/docs/errors#" + string(e.Code),
		Fields: e.Fields, Existing: e.Existing, Scope: e.Scope,
		RetryAt: ms(e.RetryAt), Until: ms(e.Until), ServerTime: ms(e.ServerTime), AgentID: e.AgentID,
		Balance: e.Balance, Price: e.Price,
	}}
}

// RefusalMost bounds the bytes of a refusal, whatever was sent.
const RefusalMost = 4 << 10

// JSON returns the body of the failed answer, in at most RefusalMost bytes. base is the
// service's base URL.
func (e *Error) JSON(base string) []byte {
	return e.Within(base, func(body []byte) bool { return len(body) <= RefusalMost })
}

// Within is JSON with a bound that the caller chooses. To fit, it drops the last fields,
// and then cuts the message and the remaining field.
func (e *Error) Within(base string, fits func(body []byte) bool) []byte {
	cut := *e
	for most := 1 << 10; ; {
		var b bytes.Buffer
		if err := encodeJSON(&b, cut.envelope(base)); err != nil {
			panic(err) // cannot fail: only strings and numbers
		}
		switch n := len(cut.Fields); {
		case fits(b.Bytes()) || most < 16:
			return b.Bytes()
		case n > 1:
			cut.Fields = cut.Fields[:n-1]
		default:
			cut.Message = clip(cut.Message, most)
			if n == 1 {
				f := cut.Fields[0]
				cut.Fields = []wire.FieldProblem{{Field: clip(f.Field, most), Problem: clip(f.Problem, most)}}
			}
			most /= 2
		}
	}
}

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// AsError turns any error into a refusal.
func AsError(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, tables.ErrConflict), errors.Is(err, tables.ErrOvertaken):
		return Fail(Busy, "Other requests changed the same data at the same time; nothing was written.").Because(err)
	case errors.Is(err, tables.ErrThrottled), errors.Is(err, tables.ErrUnreachable), errors.Is(err, tables.ErrUnknownOutcome),
		errors.Is(err, context.DeadlineExceeded):
		return Fail(Unavailable, "The service cannot answer this request now.").Because(err)
	}
	return Fail(Internal, "Something failed inside the service.").Because(err)
}
