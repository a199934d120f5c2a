package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/local/checks/books"
)

// adopt prepares RESTORED, a table that AWS Backup restored from a copy, for the stage of
// TABLE. The stage's own table is empty. adopt sets up what a restore leaves out, and
// makes failed batches of the items that the reader tally has not counted. It can be
// repeated.
func adopt(ctx context.Context, j job) error {
	if !j.Deployed {
		return errors.New("only a deployed stage can adopt a table; set TABLE=aws:NAME to the stage's own table")
	}
	name := j.getenv("RESTORED")
	if name == "" {
		return errors.New("RESTORED is empty; set the name of the table that AWS Backup restored")
	}
	if prefix := prefixOf(j.Dynamo.Table); !strings.HasPrefix(name, prefix) || name == j.Dynamo.Table {
		return fmt.Errorf("RESTORED=%s must begin with %s, and differ from %s; restore the copy to another name", name, prefix, j.Dynamo.Table)
	}
	r := newRecovery(j)
	out, err := r.client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if err != nil {
		return fmt.Errorf("RESTORED=%s: %w", name, err)
	}
	at := aws.ToTime(out.Table.CreationDateTime)
	if s := out.Table.RestoreSummary; s != nil { // AWS does not say whether a restore by AWS Backup has one
		if s.SourceBackupArn == nil {
			return fmt.Errorf("RESTORED=%s was not restored from a backup; `make restore` is for other restores", name)
		}
		at = aws.ToTime(s.RestoreDateTime)
	}
	table, err := r.complete(ctx, name)
	if err != nil {
		return fmt.Errorf("%s is not set up completely; repeat the command: %w", name, err)
	}
	b, err := r.readable(ctx, name, at)
	if err != nil {
		return err
	}
	records, err := waiting(ctx, b, at)
	if err != nil {
		return err
	}
	if _, err := r.keep(ctx, records, tallyReader.Name); err != nil {
		return fmt.Errorf("what tally has not counted could not be put among the failed batches; repeat the command: %w", err)
	}
	j.say("to switch the stage to it, follow infra/RUNBOOK.md, \"Restore elsewhere\". Set these in cdk.json and run `make deploy`:")
	j.say("  \"restoredTable\": %q,", name)
	j.say("  \"restoredStream\": %q,", aws.ToString(table.LatestStreamArn))
	j.say("then run `make redrive TABLE=aws:%s AT=%s`", name, r.Now().UTC().Format(time.RFC3339))
	report, err := books.Audit(ctx, b, at)
	if err != nil {
		return err
	}
	return j.tell(report)
}

// prefixOf returns the beginning that the names of a stage's tables share
// (infra/settings.go, tablePrefix).
func prefixOf(table string) string {
	stage, _, ok := strings.Cut(table, "-Table")
	if !ok {
		return ""
	}
	return stage + "-Table"
}
