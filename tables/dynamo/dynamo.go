// Package dynamo implements the table on Amazon DynamoDB, for production, and
// on DynamoDB Local.
//
// The client is made from [Config] only. The SDK's configuration chain would link more
// packages, and initialising packages is most of a Lambda function's start-up time. The
// streams client is separate, in tables/dynamo/streams.
package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/tables"
)

// DB is a DynamoDB table. It implements [tables.Backend].
type DB struct {
	client  *dynamodb.Client
	table   string
	timeout time.Duration
}

var _ tables.Backend = (*DB)(nil)

// defaultTimeout bounds an attempt. It is long for DynamoDB, which answers in milliseconds,
// but leaves a request time for a second attempt.
const defaultTimeout = 1500 * time.Millisecond

// Config configures a table.
type Config struct {
	Table       string
	Region      string
	Endpoint    string // of DynamoDB Local, such as "http://localhost:8000"; empty for AWS
	Credentials aws.CredentialsProvider
	HTTP        aws.HTTPClient // the SDK's own if nil
	Timeout     time.Duration  // of one attempt of one call; 1.5 s if 0
}

// Open makes a DB. It does not call DynamoDB.
func Open(c Config) *DB {
	db := New(c.Client(), c.Table)
	if c.Timeout > 0 {
		db.timeout = c.Timeout
	}
	return db
}

// Client makes an SDK client.
func (c Config) Client() *dynamodb.Client {
	o := dynamodb.Options{Region: c.Region, Credentials: c.Credentials}
	if c.HTTP != nil {
		o.HTTPClient = c.HTTP
	}
	if c.Endpoint != "" {
		o.BaseEndpoint = aws.String(c.Endpoint)
	}
	return dynamodb.New(o)
}

// New makes a DB from a client. The DB's calls switch off the client's retries:
// tables/retry repeats calls, within one budget for the process.
func New(client *dynamodb.Client, table string) *DB {
	return &DB{client: client, table: table, timeout: defaultTimeout}
}

// Credentials returns static credentials. In Lambda they are those of the environment,
// which do not change during a sandbox's life. session may be empty.
func Credentials(id, secret, session string) aws.CredentialsProvider {
	c := aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: session, Source: "agentsocial"}
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, nil })
}
