package dynamo

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"agentsocial/tables"
)

// fate is the possible effect of a failed call.
type fate int

const (
	fateRefused   fate = iota // nothing was done, for a reason other than throttling
	fateThrottled             // nothing was done, because of throttling
	fateUnsent                // the request was not sent
	fateLost                  // the call may have had its effect
)

// failure is a failed API call. Its text has the error's code, but not
// DynamoDB's message, which may quote an item's values. Unwrap it for the
// message.
type failure struct {
	name    string // of the API call
	fate    fate
	kind    error // one of the contract's errors, or nil
	code    string
	request string // id of the request, for AWS support
	cause   error
}

func (f *failure) Error() string {
	s := "dynamo: " + f.name
	if f.kind != nil {
		s += ": " + f.kind.Error()
	}
	if f.code == "" {
		return s + ": " + f.cause.Error()
	}
	s += ": " + f.code
	if f.request != "" {
		s += " (request " + f.request + ")"
	}
	return s
}

func (f *failure) Unwrap() []error {
	if f.kind == nil {
		return []error{f.cause}
	}
	return []error{f.kind, f.cause}
}

// newFailure classifies the error of a call. sent says whether its request was sent.
func newFailure(name string, err error, sent bool) *failure {
	f := &failure{name: name, fate: fateLost, cause: err}
	status := 0
	if response, ok := errors.AsType[*smithyhttp.ResponseError](err); ok {
		status = response.HTTPStatusCode()
	}
	if !sent && status == 0 {
		f.fate = fateUnsent
	}
	var identified interface{ ServiceRequestID() string }
	if errors.As(err, &identified) {
		f.request = identified.ServiceRequestID()
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		f.code = api.ErrorCode()
	}
	if status < 400 || status >= 500 || status == http.StatusRequestTimeout {
		return f // no answer, a partial one, or one that guarantees nothing
	}
	f.fate = fateRefused
	switch f.code {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded":
		f.fate, f.kind = fateThrottled, tables.ErrThrottled
	case "TransactionConflictException", "ReplicatedWriteConflictException":
		f.kind = tables.ErrConflict
	case "ValidationException", "SerializationException", "IdempotentParameterMismatchException":
		f.kind = tables.ErrInvalid
	case "TransactionInProgressException":
		// An earlier attempt with this token is still under way, so the outcome is open.
		f.fate = fateLost
	case "TransactionCanceledException":
		f.fate, f.kind = cancellation(err)
	}
	if status == http.StatusRequestEntityTooLarge {
		f.kind = tables.ErrInvalid
	}
	return f
}

// cancellation returns the fate and kind of a cancelled transaction. A mistake
// in the program comes first, so that it is never hidden. A failed condition
// comes next and has no kind, since repeating the transaction cannot help.
func cancellation(err error) (fate, error) {
	codes := map[string]bool{}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for _, r := range cancelled.CancellationReasons {
			codes[aws.ToString(r.Code)] = true
		}
	}
	switch {
	case codes["ValidationError"]:
		return fateRefused, tables.ErrInvalid
	case codes["ConditionalCheckFailed"]:
		return fateRefused, nil
	case codes["TransactionConflict"]:
		return fateRefused, tables.ErrConflict
	}
	for code := range codes {
		if isThrottle(code) {
			return fateThrottled, tables.ErrThrottled
		}
	}
	return fateRefused, nil
}

func isThrottle(code string) bool {
	switch code {
	case "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return true
	}
	return false
}

// invalid makes an ErrInvalid with a message.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{tables.ErrInvalid}, args...)...)
}

func (f *failure) commitError() error {
	switch f.fate {
	case fateLost:
		f.kind = tables.ErrUnknownOutcome
	case fateUnsent:
		f.kind = tables.ErrUnreachable
	}
	return f
}

func (f *failure) readError() error {
	if f.fate == fateLost || f.fate == fateUnsent {
		f.kind = tables.ErrUnreachable
	}
	return f
}

func throttledKeys(given []types.CancellationReason, writes []write) (keys []tables.Key) {
	for i, r := range given[:min(len(given), len(writes))] {
		if isThrottle(aws.ToString(r.Code)) {
			keys = append(keys, writes[i].Key)
		}
	}
	return keys
}
