// Package failed holds batches of the table's stream that a reader gave up: in
// the JSON that Lambda leaves of each in S3, and under the same names, wherever
// they lie. So one reader of them serves a deployment and a laptop alike.
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

// Prefix begins the keys of all batches, in a bucket as in a folder.
const Prefix = "aws/lambda/"

// Store holds failed batches, each under a key of its own:
// aws/lambda/MAPPING/SHARD/YYYY/MM/DD/YYYY-MM-DDTHH.MM.SS-WHATEVER, as Lambda
// names them.
type Store interface {
	// Keys of all that it holds, in no order.
	Keys(context.Context) ([]string, error)
	// Get reads what a key names.
	Get(ctx context.Context, key string) ([]byte, error)
	// Delete removes it. What is not there is removed already.
	Delete(ctx context.Context, key string) error
}

// Batch is a batch that was given up. (Lambda's developer guide: "Retain
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
	Condition   string `json:"condition"` // why it was given up: RetryAttemptsExhausted, RecordAgeExceeded, …
	Attempts    int    `json:"approximateInvokeCount"`
}

// Place is where in the stream the batch stood.
type Place struct {
	Stream string `json:"streamArn,omitempty"` // a local stream has no name
	Shard  string `json:"shardId"`
	First  string `json:"startSequenceNumber"`
	Last   string `json:"endSequenceNumber"`
	Size   int    `json:"batchSize"`
}

// Event is what the reader was given, a DynamoDBEvent in JSON, to the byte: in
// the JSON of a batch it is a string.
type Event []byte

// MarshalJSON makes a string of it.
func (e Event) MarshalJSON() ([]byte, error) { return json.Marshal(string(e)) }

// UnmarshalJSON takes the string, and an object too: AWS documents no more than
// that it is the "whole event".
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

// Read reads a batch.
func Read(b []byte) (*Batch, error) {
	var x Batch
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, fmt.Errorf("it is no failed batch: %w", err)
	}
	if x.Request.FunctionARN == "" || len(x.Event) == 0 {
		return nil, errors.New("it is no failed batch: it names no function, or has no payload")
	}
	return &x, nil
}

// localARN begins the names of readers that run in this process.
const localARN = "arn:aws:lambda:local:000000000000:function:"

// New is a batch that a local reader gave up.
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

// Reader is the local reader's name; of a deployed one it is the function's.
func (b *Batch) Reader() string {
	_, name, found := strings.Cut(b.Request.FunctionARN, ":function:")
	if !found {
		name = b.Request.FunctionARN
	}
	name, _, _ = strings.Cut(name, ":") // a version may follow
	return name
}

// Table is the name of the table that the batch is of; "" of a local one.
func (b *Batch) Table() string {
	_, name, _ := strings.Cut(b.Place.Stream, ":table/")
	name, _, _ = strings.Cut(name, "/")
	return name
}

// Key is what a local batch is kept under.
func (b *Batch) Key() string {
	return Prefix + b.Reader() + "/" + b.Place.Shard + "/" + b.Timestamp.Format("2006/01/02/2006-01-02T15.04.05-") + b.Place.First
}
