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

// restore restores a deployed table, as of the time AT, to another table. With RESTORED,
// the name of the other table, it continues an interrupted restore.
func restore(ctx context.Context, j job) error {
	if !j.Deployed {
		return errors.New("only a deployed table can be restored; set TABLE=aws:NAME, or replace the embedded table's file with an earlier copy")
	}
	at, err := j.at(time.Time{})
	if err != nil {
		return err
	}
	if at.IsZero() {
		return errors.New("AT is empty; set the time to restore to, such as AT=2026-11-22T01:30:00Z")
	}
	r := newRecovery(j)
	first, last, err := r.window(ctx)
	if err != nil {
		return err
	}
	if at.Before(first) || at.After(last) {
		return fmt.Errorf("AT=%s is out of range; the table can be restored to times from %s to %s", j.getenv("AT"), first.UTC().Format(time.RFC3339), last.UTC().Format(time.RFC3339))
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
		return fmt.Errorf("%s is restored but not set up completely; repeat with RESTORED=%[1]s: %[2]w", b.where, err)
	}
	if _, err := r.keep(ctx, unread); err != nil {
		return fmt.Errorf("%s is restored, but the changes that its readers may have missed could not be put among the failed batches; repeat with RESTORED=%[1]s: %[2]w", b.where, err)
	}
	j.say("to switch the service to it, follow infra/RUNBOOK.md, \"Restore\", from step 4. Set these in cdk.json and run `make deploy`:")
	j.say("  \"restoredTable\": %q,", b.where)
	j.say("  \"restoredStream\": %q,", aws.ToString(table.LatestStreamArn))
	j.say("then save the failed batches (step 6), and run `make redrive TABLE=aws:%s AT=%s`", b.where, at.UTC().Format(time.RFC3339))
	j.say("now both tables are read, to prove the restored one; you may interrupt this")
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

// begun returns the restored table with this name, or starts a restore if name is empty.
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
		return nil, fmt.Errorf("RESTORED=%s is not a restore of %s as of %s", name, r.Dynamo.Table, at.UTC().Format(time.RFC3339))
	}
	return r.readable(ctx, name, at)
}

// recovery restores a deployed table by DynamoDB's point-in-time recovery.
type recovery struct {
	job
	client *dynamodb.Client
}

func newRecovery(j job) recovery { return recovery{j, j.Dynamo.Client()} }

// apart bounds the difference between this machine's clock and AWS's.
const apart = time.Minute

// drill is the [copier] of a deployed table. It waits about five minutes, until DynamoDB
// can restore the table as of the chosen time.
func (r recovery) drill(ctx context.Context, past func() error) (*backup, error) {
	at := r.Now().Add(apart).Truncate(time.Second)
	r.say("waiting     for DynamoDB to be able to restore %s", at.UTC().Format(time.RFC3339))
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

// window returns the earliest and the latest time to which the table can be restored.
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

// restored restores to a new table, and waits until it can be read.
func (r recovery) restored(ctx context.Context, what string, at time.Time) (*backup, error) {
	name := fmt.Sprintf("%s-%s-%s", r.Dynamo.Table, what, stamp(r.Now()))
	_, err := r.client.RestoreTableToPointInTime(ctx, &dynamodb.RestoreTableToPointInTimeInput{
		SourceTableName: &r.Dynamo.Table, TargetTableName: &name, RestoreDateTime: &at,
	})
	if err != nil {
		return nil, err
	}
	r.say("restoring   %s; this takes minutes to hours, and AWS goes on even if you stop this program", name)
	return r.readable(ctx, name, at)
}

func (r recovery) readable(ctx context.Context, name string, at time.Time) (*backup, error) {
	if _, err := r.active(ctx, name); err != nil {
		return nil, err
	}
	c := r.Dynamo
	c.Table = name
	return &backup{Scanner: dynamo.Open(c), where: c.Table, at: at, close: func() {}}, nil
}

// active waits until a table and its indexes are active. DynamoDB may not know the table
// yet if its creation has just begun.
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

// complete sets up what DynamoDB does not restore. It can be repeated: it skips what
// DynamoDB would refuse to set up again.
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

// recoverable switches point-in-time recovery on, and retries while the new table
// refuses it.
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

// tag copies the tags of a table to another, except AWS's own.
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
