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

// fate is what a failed call may have done.
type fate int

const (
	fateRefused   fate = iota // DynamoDB's last word: nothing was done, and asking again will not help
	fateThrottled             // nothing was done; later it may be
	fateUnsent                // the request did not leave this process
	fateLost                  // it may have been done
)

// failure is an API call that failed. Its text has the error's code, never
// DynamoDB's message, which may quote the values of an item; who needs the
// message unwraps it.
type failure struct {
	name    string // of the API call
	fate    fate
	kind    error // one of the contract's errors, or nil
	code    string
	request string // id of the request, to ask AWS about
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

// newFailure tells what became of a call whose error is err, and whether its
// request was sent at all.
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
		return f // no answer, half of one, or one that promises nothing
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
		// An earlier attempt with this token is still under way: whether its
		// writes will stand is open, so this is no conflict.
		f.fate = fateLost
	case "TransactionCanceledException":
		f.fate, f.kind = cancellation(err)
	}
	if status == http.StatusRequestEntityTooLarge {
		f.kind = tables.ErrInvalid
	}
	return f
}

// cancellation is the fate and kind of a cancelled transaction in which no
// condition failed, and a refusal of no kind if one did. A mistake in the
// program comes first, so that it is never hidden; a failed condition next,
// since repeating the transaction cannot help it.
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
	case codes["ThrottlingError"], codes["ProvisionedThroughputExceeded"], codes["RequestLimitExceeded"]:
		return fateThrottled, tables.ErrThrottled
	}
	return fateRefused, nil
}

// invalid is an ErrInvalid found before anything was sent.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{tables.ErrInvalid}, args...)...)
}

// commitError is the error of a commit whose call failed.
func (f *failure) commitError() error {
	if f.fate == fateLost {
		f.kind = tables.ErrUnknownOutcome
	}
	return f
}
