package streams

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"agentsocial/tables"
)

// maxRecords is the most that DynamoDB returns at once.
const maxRecords = 1000

// Changes implements [tables.Feed]. It skips changes that the stream no longer
// keeps.
func (f *Feed) Changes(ctx context.Context, shard, after string, limit int, wait time.Duration) (changes []tables.StreamRecord, done bool, err error) {
	if limit < 1 {
		return nil, false, tables.ErrInvalid
	}
	lostPlace := false
	var waited time.Duration // sum of the pauses, without the reads
	for {
		iterator, err := f.iterator(ctx, shard, after, lostPlace)
		if err != nil {
			return nil, false, err
		}
		out, err := f.client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
			ShardIterator: &iterator, Limit: aws.Int32(int32(min(limit, maxRecords))),
		})
		var expired *types.ExpiredIteratorException
		switch {
		case errors.As(err, &expired): // an iterator lives for fifteen minutes
			f.forget(shard)
			continue
		case isTrimmed(err):
			f.forget(shard)
			lostPlace = true
			continue
		case err != nil:
			return nil, false, failure("GetRecords", err)
		default:
			if changes, err = records(shard, out.Records); err != nil {
				return nil, false, err
			}
			if len(changes) > 0 {
				after = changes[len(changes)-1].Seq
				f.noteSign()
			}
			if out.NextShardIterator == nil {
				f.forget(shard)
				return changes, true, nil
			}
			f.keep(shard, mark{after, *out.NextShardIterator})
			if len(changes) > 0 || waited >= wait {
				return changes, false, nil
			}
		}
		paused, err := f.pause(ctx, wait-waited)
		if err != nil {
			return nil, false, err
		}
		waited += paused
	}
}

// The pause between two reads is the time since the last change or [Feed.Wake], divided
// by idleShare, but at least Config.Poll and at most Config.IdlePoll.
const idleShare = 4

// pause waits before the next read of a shard, and returns how long it waited. A pause
// takes at least f.poll, even if the caller has less time left. Wake ends longer pauses.
func (f *Feed) pause(ctx context.Context, left time.Duration) (time.Duration, error) {
	f.mu.Lock()
	d, woken := max(f.poll, min(time.Since(f.sign)/idleShare, f.idle, left)), f.woken
	f.mu.Unlock()
	if d == f.poll {
		woken = nil
	}
	begun := time.Now()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-woken:
		return time.Since(begun), nil
	case <-t.C:
		return d, nil
	}
}

// Wake tells the feed that this process has written to the table or waits for a change.
// Idle shards are then read often again.
func (f *Feed) Wake() {
	f.noteSign()
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.woken)
	f.woken = make(chan struct{})
}

func (f *Feed) noteSign() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sign = time.Now()
}

// iterator returns the shard's kept iterator if it was kept for after, a sequence number.
// Otherwise it makes one that begins right behind after, or at the shard's oldest change if
// after is "", lost is set, or the stream no longer keeps after.
func (f *Feed) iterator(ctx context.Context, shard, after string, lost bool) (string, error) {
	f.mu.Lock()
	m, ok := f.marks[shard]
	f.mu.Unlock()
	if ok && m.after == after {
		return m.iterator, nil
	}
	arn, err := f.stream(ctx)
	if err != nil {
		return "", err
	}
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &arn, ShardId: &shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon}
	if after != "" && !lost {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &after
	}
	out, err := f.client.GetShardIterator(ctx, in)
	if isTrimmed(err) {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeTrimHorizon, nil
		out, err = f.client.GetShardIterator(ctx, in)
	}
	if err != nil {
		return "", failure("GetShardIterator", err)
	}
	f.keep(shard, mark{after, *out.ShardIterator})
	return *out.ShardIterator, nil
}

// isTrimmed reports whether err says that a position is older than the 24 hours that the
// stream keeps.
func isTrimmed(err error) bool {
	var trimmed *types.TrimmedDataAccessException
	return errors.As(err, &trimmed)
}

func (f *Feed) keep(shard string, m mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marks[shard] = m
}

func (f *Feed) forget(shard string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.marks, shard)
}
