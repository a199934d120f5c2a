// Package streams implements the table's change feed on DynamoDB Streams, for programs
// outside Lambda. The Lambda service itself polls the stream for production's functions.
package streams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"agentsocial/tables"
)

// Feed reads a table's stream. It implements [tables.Feed].
type Feed struct {
	client *dynamodbstreams.Client
	table  string
	poll   time.Duration
	idle   time.Duration

	mu    sync.Mutex
	arn   string
	marks map[string]mark // by shard
	sign  time.Time       // the last time that a change came or Wake was called
	woken chan struct{}   // closed and replaced to end long pauses
}

var _ tables.Feed = (*Feed)(nil)

// mark is an iterator kept between calls. A new iterator takes a round trip and
// reads again the many empty pages that DynamoDB returns.
type mark struct{ after, iterator string }

// Config configures a feed.
type Config struct {
	Table       string
	Region      string
	Endpoint    string // of DynamoDB Local; empty for AWS
	Credentials aws.CredentialsProvider
	Poll        time.Duration // the shortest pause between two reads of a shard; 200 ms if 0, since AWS allows 5 reads a second
	IdlePoll    time.Duration // the longest pause between two reads when no change has come for a while; at least Poll
}

// Open makes a Feed. It does not call DynamoDB.
func Open(c Config) *Feed {
	o := dynamodbstreams.Options{Region: c.Region, Credentials: c.Credentials}
	if c.Endpoint != "" {
		o.BaseEndpoint = aws.String(c.Endpoint)
	}
	f := &Feed{
		client: dynamodbstreams.New(o), table: c.Table,
		poll:  200 * time.Millisecond,
		marks: map[string]mark{}, sign: time.Now(), woken: make(chan struct{}),
	}
	if c.Poll > 0 {
		f.poll = c.Poll
	}
	f.idle = max(f.poll, c.IdlePoll)
	return f
}

// Shards implements [tables.Feed].
func (f *Feed) Shards(ctx context.Context) ([]tables.Shard, error) {
	arn, err := f.stream(ctx)
	if err != nil {
		return nil, err
	}
	var shards []tables.Shard
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &arn}
	for {
		out, err := f.client.DescribeStream(ctx, in)
		if err != nil {
			return nil, failure("DescribeStream", err)
		}
		for _, s := range out.StreamDescription.Shards {
			shards = append(shards, tables.Shard{ID: aws.ToString(s.ShardId), Parent: aws.ToString(s.ParentShardId)})
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return parentsFirst(shards), nil
		}
	}
}

// parentsFirst orders shards. It clears a Parent that the stream no longer keeps, so that
// nobody waits for it.
func parentsFirst(shards []tables.Shard) []tables.Shard {
	listed := map[string]tables.Shard{}
	for _, s := range shards {
		listed[s.ID] = s
	}
	ordered := make([]tables.Shard, 0, len(shards))
	done := map[string]bool{}
	var place func(s tables.Shard)
	place = func(s tables.Shard) {
		if done[s.ID] {
			return
		}
		done[s.ID] = true
		if parent, ok := listed[s.Parent]; ok {
			place(parent)
		} else {
			s.Parent = ""
		}
		ordered = append(ordered, s)
	}
	for _, s := range shards {
		place(s)
	}
	return ordered
}

// stream returns the stream's ARN.
func (f *Feed) stream(ctx context.Context) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.arn != "" {
		return f.arn, nil
	}
	out, err := f.client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &f.table})
	if err != nil {
		return "", failure("ListStreams", err)
	}
	// A table has several streams after its stream was switched off and on. The newest is live.
	if len(out.Streams) == 0 {
		return "", fmt.Errorf("streams: table %q has no stream", f.table)
	}
	newest := out.Streams[0]
	for _, s := range out.Streams {
		if aws.ToString(s.StreamLabel) > aws.ToString(newest.StreamLabel) {
			newest = s
		}
	}
	f.arn = aws.ToString(newest.StreamArn)
	return f.arn, nil
}

func failure(call string, err error) error {
	var limit *types.LimitExceededException
	if errors.As(err, &limit) {
		return fmt.Errorf("streams: %s: %w: %w", call, tables.ErrThrottled, err)
	}
	return fmt.Errorf("streams: %s: %w", call, err)
}
