// Package failed holds batches of the table's stream that a reader gave up on. Lambda stores its
// failed batches in S3 in the same format, so one tool reads both.
package failed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

// Prefix begins the keys of all batches, in a bucket and in a folder.
const Prefix = "aws/lambda/"

// Store holds failed batches. Their keys are those of Lambda:
// aws/lambda/MAPPING/SHARD/YYYY/MM/DD/YYYY-MM-DDTHH.MM.SS-SUFFIX.
type Store interface {
	// Keys returns the keys of all batches, in any order.
	Keys(context.Context) ([]string, error)
	// Get reads a batch.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes a batch. It succeeds if there is no such batch.
	Delete(ctx context.Context, key string) error
}

// Batch is a batch that a reader gave up on. (Lambda's developer guide: "Retain
// discarded records for a DynamoDB event source".)
type Batch struct {
	Request   Request   `json:"requestContext"`
	Version   string    `json:"version"`
	Timestamp time.Time `json:"timestamp"`
	Place     Place     `json:"DDBStreamBatchInfo"`
	Event     Event     `json:"payload"`
}

// Request is the last attempt.
type Request struct {
	FunctionARN string `json:"functionArn"`
	Condition   string `json:"condition"` // RetryAttemptsExhausted, RecordAgeExceeded, …
	Attempts    int    `json:"approximateInvokeCount"`
}

// Place is the batch's position in the stream.
type Place struct {
	Stream string `json:"streamArn,omitempty"` // a local stream has no name
	Shard  string `json:"shardId"`
	First  string `json:"startSequenceNumber"`
	Last   string `json:"endSequenceNumber"`
	Size   int    `json:"batchSize"`
}

// Event is the DynamoDBEvent that the reader got, unchanged. In the JSON of a batch it
// is a string.
type Event []byte

// MarshalJSON implements [json.Marshaler].
func (e Event) MarshalJSON() ([]byte, error) { return json.Marshal(string(e)) }

// UnmarshalJSON accepts a string and also an object: AWS documents only that it is the
// "whole event".
func (e *Event) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte{'"'}) {
		*e = bytes.Clone(b)
		return nil
	}
	var s string
	err := json.Unmarshal(b, &s)
	*e = Event(s)
	return err
}

// Read parses a batch.
func Read(b []byte) (*Batch, error) {
	var x Batch
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, fmt.Errorf("not a failed batch: %w", err)
	}
	if x.Request.FunctionARN == "" || len(x.Event) == 0 {
		return nil, errors.New("not a failed batch: it has no function or no payload")
	}
	return &x, nil
}

// localARN begins the ARNs of local readers.
const localARN = "arn:aws:lambda:local:000000000000:function:"

// New returns a batch that a local reader gave up on.
func New(reader string, attempts int, at time.Time, records []tables.StreamRecord) (*Batch, error) {
	event, err := json.Marshal(stream.ToLambda(records))
	if err != nil {
		return nil, err
	}
	first, last := records[0], records[len(records)-1]
	return &Batch{
		Request: Request{FunctionARN: localARN + reader, Condition: "RetryAttemptsExhausted", Attempts: attempts},
		Version: "1.0", Timestamp: at.UTC(),
		Place: Place{Shard: first.Shard, First: first.Seq, Last: last.Seq, Size: len(records)},
		Event: event,
	}, nil
}

// Reader returns the name of the local reader or the deployed function.
func (b *Batch) Reader() string {
	_, name, found := strings.Cut(b.Request.FunctionARN, ":function:")
	if !found {
		name = b.Request.FunctionARN
	}
	name, _, _ = strings.Cut(name, ":") // a version may follow
	return name
}

// Table returns the name of the batch's table, or "" for a local batch.
func (b *Batch) Table() string {
	_, name, _ := strings.Cut(b.Place.Stream, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// Key returns the key of a local batch.
func (b *Batch) Key() string {
	return Prefix + b.Reader() + "/" + b.Place.Shard + "/" + b.Timestamp.Format("2006/01/02/2006-01-02T15.04.05-") + b.Place.First
}
