package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"agentsocial/events"
	"agentsocial/local/service/failed"
	"agentsocial/shared/app"
)

// deployedFailures returns the bucket where Lambda leaves the batches that the readers of a
// deployed table failed to process, and a func that calls these readers.
func deployedFailures(ctx context.Context, j job) (failed.Store, reader, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, nil, err
	}
	functions := lambda.NewFromConfig(c)
	m, err := mappingsOf(ctx, j, functions)
	if err != nil {
		return nil, nil, err
	}
	j.say("batches     s3://%s", m.bucket)
	return newBucket(c, m.bucket), m.invoke(functions), nil
}

// mappings describes the readers of a table's stream.
type mappings struct {
	stream    string   // its ARN
	bucket    string   // the one bucket of their failed batches
	functions []string // the ARNs of their functions
}

const bucketARN = ":s3:::"

func mappingsOf(ctx context.Context, j job, c *lambda.Client) (m mappings, err error) {
	table, err := j.Dynamo.Client().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &j.Dynamo.Table})
	if err != nil {
		return m, err
	}
	stream := table.Table.LatestStreamArn
	m.stream = aws.ToString(stream)
	if stream == nil {
		return m, errors.New("the table has no stream, and so no readers")
	}
	var buckets []string
	pages := lambda.NewListEventSourceMappingsPaginator(c, &lambda.ListEventSourceMappingsInput{EventSourceArn: stream})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return m, err
		}
		for _, x := range page.EventSourceMappings {
			m.functions = append(m.functions, aws.ToString(x.FunctionArn))
			if x.DestinationConfig == nil || x.DestinationConfig.OnFailure == nil {
				continue
			}
			_, name, ok := strings.Cut(aws.ToString(x.DestinationConfig.OnFailure.Destination), bucketARN)
			if ok && !slices.Contains(buckets, name) {
				buckets = append(buckets, name)
			}
		}
	}
	if len(buckets) != 1 {
		return m, fmt.Errorf("%d functions read %s and leave failed batches in %d buckets, %v; there must be exactly one bucket", len(m.functions), *stream, len(buckets), buckets)
	}
	m.bucket = buckets[0]
	return m, nil
}

// function returns the ARN of a reader's function. CloudFormation builds the function's
// name from the stack's and the reader's names (infra/function.go).
func (m mappings) function(reader string) (string, error) {
	i := slices.IndexFunc(m.functions, func(arn string) bool { return strings.Contains(arn, inName(reader)) })
	if i < 0 {
		return "", fmt.Errorf("none of %v is the function of the reader %s", m.functions, reader)
	}
	return m.functions[i], nil
}

func inName(reader string) string { return "-" + reader + "Function" }

// functionFor returns the ARN of this table's function for the reader that a batch
// names. It does not trust the ARN in the batch, which may be of any function.
func (m mappings) functionFor(b *failed.Batch) (string, error) {
	for _, declare := range events.All() {
		if name := declare(&app.App{}).Name; strings.Contains(b.Reader(), inName(name)) {
			return m.function(name)
		}
	}
	return "", fmt.Errorf("%s is not a reader of this table, and was not called", b.Request.FunctionARN)
}

// invoke returns a func that calls the deployed function of the reader that gave a batch up.
func (m mappings) invoke(c *lambda.Client) reader {
	return func(ctx context.Context, b *failed.Batch, records []record) (int, error) {
		function, err := m.functionFor(b)
		if err != nil {
			return 0, err
		}
		out, err := c.Invoke(ctx, &lambda.InvokeInput{FunctionName: &function, Payload: eventOf(records)})
		var answered interface{ HTTPStatusCode() int }
		if errors.As(err, &answered) && answered.HTTPStatusCode() == http.StatusRequestEntityTooLarge {
			return 0, nil // the caller then tries half of the batch
		}
		if err != nil {
			return 0, err
		}
		if out.FunctionError != nil { // the whole batch failed
			return 0, nil
		}
		var answer struct {
			BatchItemFailures []struct{ ItemIdentifier string }
		}
		if err := json.Unmarshal(out.Payload, &answer); err != nil {
			return 0, fmt.Errorf("%s answered %.100q: %w", b.Reader(), out.Payload, err)
		}
		var failures []string
		for _, f := range answer.BatchItemFailures {
			failures = append(failures, f.ItemIdentifier)
		}
		return done(records, failures), nil
	}
}

type s3Bucket struct {
	client *s3.Client
	name   string
}

var _ failed.Store = s3Bucket{}

func newBucket(c aws.Config, name string) s3Bucket {
	return s3Bucket{s3.NewFromConfig(c, func(o *s3.Options) {
		o.DisableLogOutputChecksumValidationSkipped = true // otherwise the SDK prints a line for each object without a checksum
	}), name}
}

// Keys implements [failed.Store].
func (b s3Bucket) Keys(ctx context.Context) ([]string, error) {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: aws.String(failed.Prefix)})
	var keys []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			keys = append(keys, *o.Key)
		}
	}
	return keys, nil
}

// Get implements [failed.Store].
func (b s3Bucket) Get(ctx context.Context, key string) ([]byte, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(out.Body)
	return text, errors.Join(err, out.Body.Close())
}

// Put stores a batch.
func (b s3Bucket) Put(ctx context.Context, x *failed.Batch) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: aws.String(x.Key()), Body: bytes.NewReader(text)})
	return err
}

// Delete implements [failed.Store].
func (b s3Bucket) Delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key})
	return err
}
