package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/local/checks/books"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

// restore makes of a deployed table, as it was AT a moment, another that the
// service can be pointed at, and says how as soon as it can be; then it reads both.
// With RESTORED, the name of the other, it goes on where it was broken off.
func restore(ctx context.Context, j job) error {
	if !j.Deployed {
		return errors.New("only a deployed table, TABLE=aws:NAME, can be had as it was; of one in a file, keep copies")
	}
	at, err := j.at(time.Time{})
	if err != nil {
		return err
	}
	if at.IsZero() {
		return errors.New("say as it was when: AT=2026-11-22T01:30:00Z")
	}
	r := newRecovery(j)
	first, last, err := r.window(ctx)
	if err != nil {
		return err
	}
	if at.Before(first) || at.After(last) {
		return fmt.Errorf("AT=%s: the table can be had as it was from %s to %s", j.getenv("AT"), first.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
	}
	unread, err := r.changes(ctx, at)
	if err != nil {
		return err
	}
	b, err := r.begun(ctx, j.getenv("RESTORED"), at)
	if err != nil {
		return err
	}
	table, err := r.complete(ctx, b.where)
	if err != nil {
		return fmt.Errorf("%s is restored, and not what it is to be yet: %w", b.where, err)
	}
	if err := r.keep(ctx, unread); err != nil {
		return fmt.Errorf("%s is restored, and what its readers may not have worked off is not kept: %w", b.where, err)
	}
	j.say("to point the service at it, set these in cdk.json and `make deploy`:")
	j.say("  \"restoredTable\": %q,", b.where)
	j.say("  \"restoredStream\": %q,", aws.ToString(table.LatestStreamArn))
	j.say("then `make redrive TABLE=aws:%s AT=%s`", b.where, at.UTC().Format(time.RFC3339))
	j.say("what follows reads both tables, to prove what is restored; it may be broken off")
	books, err := books.Audit(ctx, b, at)
	if err != nil {
		return err
	}
	wrong := j.tell(books)
	held, err := count(ctx, b)
	if err != nil {
		return err
	}
	now, err := count(ctx, j)
	if err != nil {
		return err
	}
	j.tellTypes(held, now)
	return wrong
}

// begun is the table of a moment that has a name already, or another.
func (r recovery) begun(ctx context.Context, name string, at time.Time) (*backup, error) {
	if name == "" {
		return r.restored(ctx, "restored", at)
	}
	out, err := r.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return nil, fmt.Errorf("RESTORED=%s: %w", name, err)
	}
	s := out.Table.RestoreSummary
	if s == nil || !strings.HasSuffix(aws.ToString(s.SourceTableArn), ":table/"+r.Dynamo.Table) || aws.ToTime(s.RestoreDateTime).Unix() != at.Unix() {
		return nil, fmt.Errorf("RESTORED=%s is not restored from %s as it was at %s", name, r.Dynamo.Table, at.UTC().Format(time.RFC3339))
	}
	return r.readable(ctx, name, at)
}

// recovery has a deployed table restored by its point-in-time recovery.
type recovery struct {
	job
	client *dynamodb.Client
}

func newRecovery(j job) recovery { return recovery{j, j.Dynamo.Client()} }

// apart is how far this machine's clock and AWS's may be apart.
const apart = time.Minute

// drill is the [copier] of a deployed table. A moment can be restored some five
// minutes after it.
func (r recovery) drill(ctx context.Context, past func() error) (*backup, error) {
	at := r.Now().Add(apart).Truncate(time.Second)
	r.say("waiting     until %s can be restored", at.UTC().Format(time.RFC3339))
	for {
		_, last, err := r.window(ctx)
		if err != nil {
			return nil, err
		}
		if !last.Before(at) {
			break
		}
		if err := r.pause(ctx); err != nil {
			return nil, err
		}
	}
	if err := past(); err != nil {
		return nil, err
	}
	b, err := r.restored(ctx, "drill", at)
	if err != nil {
		return nil, err
	}
	b.remove = func(ctx context.Context) error { return remove(ctx, r.client, b.where) }
	return b, nil
}

// window is between which moments the table can be restored.
func (r recovery) window(ctx context.Context) (first, last time.Time, err error) {
	out, err := r.client.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: &r.Dynamo.Table})
	if err != nil {
		return first, last, err
	}
	d := out.ContinuousBackupsDescription
	if d == nil || d.PointInTimeRecoveryDescription == nil || d.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus != types.PointInTimeRecoveryStatusEnabled {
		return first, last, fmt.Errorf("the table %s has no point-in-time recovery", r.Dynamo.Table)
	}
	p := d.PointInTimeRecoveryDescription
	return aws.ToTime(p.EarliestRestorableDateTime), aws.ToTime(p.LatestRestorableDateTime), nil
}

// restored makes another table of a moment, and waits until it can be read.
func (r recovery) restored(ctx context.Context, what string, at time.Time) (*backup, error) {
	name := fmt.Sprintf("%s-%s-%s", r.Dynamo.Table, what, stamp(r.Now()))
	_, err := r.client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: &r.Dynamo.Table, TargetTableName: &name, RestoreDateTime: &at,
	})
	if err != nil {
		return nil, err
	}
	r.say("restoring   %s; it takes from minutes to hours, and is not broken off with this program", name)
	return r.readable(ctx, name, at)
}

// readable waits until a restored table can be read.
func (r recovery) readable(ctx context.Context, name string, at time.Time) (*backup, error) {
	if _, err := r.active(ctx, name); err != nil {
		return nil, err
	}
	c := r.Dynamo
	c.Table = name
	return &backup{Scanner: dynamo.Open(c), where: c.Table, at: at, close: func() {}}, nil
}

// active waits until a table and its indexes are. DynamoDB may not know a table yet
// that it has just begun to make.
func (r recovery) active(ctx context.Context, name string) (*types.TableDescription, error) {
	for {
		out, err := r.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
		var unknown *types.ResourceNotFoundException
		switch {
		case errors.As(err, &unknown):
		case err != nil:
			return nil, err
		case isActive(out.Table):
			return out.Table, nil
		}
		if err := r.pause(ctx); err != nil {
			return nil, err
		}
	}
}

func isActive(t *types.TableDescription) bool {
	is := t.TableStatus == types.TableStatusActive
	for _, x := range t.GlobalSecondaryIndexes {
		is = is && x.IndexStatus == types.IndexStatusActive
	}
	return is
}

func (r recovery) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(r.look):
		return nil
	}
}

// complete gives a restored table what DynamoDB restores without: the stream,
// expiry, tags, recovery of its own, and what protects the table it is made from.
// What it has already DynamoDB would not take again.
func (r recovery) complete(ctx context.Context, name string) (*types.TableDescription, error) {
	source, err := r.active(ctx, r.Dynamo.Table)
	if err != nil {
		return nil, err
	}
	table, err := r.active(ctx, name)
	if err != nil {
		return nil, err
	}
	var changes []*dynamodb.UpdateTableInput
	if s := table.StreamSpecification; s == nil || !aws.ToBool(s.StreamEnabled) {
		changes = append(changes, &dynamodb.UpdateTableInput{
			StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
		})
	}
	if aws.ToBool(source.DeletionProtectionEnabled) && !aws.ToBool(table.DeletionProtectionEnabled) {
		changes = append(changes, &dynamodb.UpdateTableInput{DeletionProtectionEnabled: aws.Bool(true)})
	}
	for _, change := range changes {
		change.TableName = &name
		if _, err := r.client.UpdateTable(ctx, change); err != nil {
			return nil, err
		}
		if table, err = r.active(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := r.expires(ctx, name); err != nil {
		return nil, err
	}
	if err := r.recoverable(ctx, name); err != nil {
		return nil, err
	}
	return table, r.tag(ctx, *source.TableArn, *table.TableArn)
}

// expires switches TTL on.
func (r recovery) expires(ctx context.Context, name string) error {
	has, err := r.client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err != nil {
		return err
	}
	if d := has.TimeToLiveDescription; d != nil && (d.TimeToLiveStatus == types.TimeToLiveStatusEnabled || d.TimeToLiveStatus == types.TimeToLiveStatusEnabling) {
		return nil
	}
	_, err = r.client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName:               &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(tables.AttrTTL), Enabled: aws.Bool(true)},
	})
	return err
}

// recoverable switches point-in-time recovery on, which a new table does not take
// for a while.
func (r recovery) recoverable(ctx context.Context, name string) error {
	for {
		_, err := r.client.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        &name,
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
		})
		var later *types.ContinuousBackupsUnavailableException
		if !errors.As(err, &later) {
			return err
		}
		if err := r.pause(ctx); err != nil {
			return err
		}
	}
}

// tag gives a table the tags of another, but for AWS's own.
func (r recovery) tag(ctx context.Context, from, to string) error {
	var tags []types.Tag
	in := &dynamodb.ListTagsOfResourceInput{ResourceArn: &from}
	for more := true; more; more = in.NextToken != nil {
		page, err := r.client.ListTagsOfResource(ctx, in)
		if err != nil {
			return err
		}
		for _, t := range page.Tags {
			if !strings.HasPrefix(*t.Key, "aws:") {
				tags = append(tags, t)
			}
		}
		in.NextToken = page.NextToken
	}
	if len(tags) == 0 {
		return nil
	}
	_, err := r.client.TagResource(ctx, &dynamodb.TagResourceInput{ResourceArn: &to, Tags: tags})
	return err
}
