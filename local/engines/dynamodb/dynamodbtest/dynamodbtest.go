// Package dynamodbtest gives tests a table on DynamoDB Local.
package dynamodbtest

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/local/engines/dynamodb"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/dynamo/streams"
)

// Variable names the environment variable with the address of a running server. All binaries
// of a test run can share this server.
const Variable = "DYNAMODB_LOCAL_ENDPOINT"

// Main runs a package's tests, and then stops the servers that they started. Call it from
// TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }
func Main(m *testing.M) int {
	defer func() {
		for _, s := range started {
			s.Stop()
		}
	}()
	return m.Run()
}

// Open makes a table for one test. If DynamoDB Local cannot run here, Open skips the test, or
// fails it with CI=true.
func Open(t testing.TB) (tables.Backend, tables.Feed) {
	t.Helper()
	c := Streaming(t)
	feed := streams.Open(streams.Config{
		Table: c.Table, Region: c.Region, Endpoint: c.Endpoint, Credentials: c.Credentials,
		Poll: 5 * time.Millisecond,
	})
	return dynamo.Open(c), feed
}

// Streaming makes a table with a stream, for tests that open the table themselves.
func Streaming(t testing.TB) dynamo.Config {
	t.Helper()
	return config(t, true)
}

// Config makes a table without a stream. This is faster: for each record that DynamoDB Local
// adds to a stream, it reads all earlier records of the same access key.
func Config(t testing.TB) dynamo.Config {
	t.Helper()
	return config(t, false)
}

func config(t testing.TB, stream bool) dynamo.Config {
	t.Helper()
	// Each test has its own access key, so that it does not wait for the queries and stream
	// reads of other tests.
	name := rand.Text()
	c := dynamo.Config{
		Table:       "test-" + strings.ToLower(name),
		Region:      dynamodb.Region,
		Endpoint:    endpoint(t),
		Credentials: dynamo.Credentials(name, dynamodb.SecretKey, ""),
		Timeout:     time.Minute, // calls are slow under the race detector
	}
	client := c.Client()
	if err := dynamo.CreateTable(t.Context(), client, c.Table, stream); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := client.DeleteTable(context.Background(), &sdk.DeleteTableInput{TableName: aws.String(c.Table)}); err != nil {
			t.Errorf("deleting the test's table: %v", err)
		}
	})
	return c
}

// free lists the started servers that Alone may return.
var (
	mu            sync.Mutex
	started, free []*dynamodb.Server
)

// Alone returns the address of a server that no other test uses until release. Tests with
// streams take longer side by side on one server than one after another.
func Alone(ctx context.Context) (endpoint string, release func(), err error) {
	mu.Lock()
	var s *dynamodb.Server
	if n := len(free); n > 0 {
		s, free = free[n-1], free[:n-1]
	}
	mu.Unlock()
	if s == nil {
		if s, err = begin(ctx, dynamodb.Options{}); err != nil {
			return "", nil, err
		}
	}
	return s.Endpoint, func() { mu.Lock(); defer mu.Unlock(); free = append(free, s) }, nil
}

func begin(ctx context.Context, o dynamodb.Options) (*dynamodb.Server, error) {
	s, err := dynamodb.Start(context.WithoutCancel(ctx), o)
	if err != nil {
		return nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	started = append(started, s)
	return s, nil
}

// shared returns the server of all tests that do not call Alone.
var shared = sync.OnceValues(func() (*dynamodb.Server, error) { return begin(context.Background(), dynamodb.Options{Apart: true}) })

func endpoint(t testing.TB) string {
	t.Helper()
	if e := os.Getenv(Variable); e != "" {
		return e
	}
	switch s, err := shared(); {
	case err == nil:
		return s.Endpoint
	case errors.Is(err, dynamodb.ErrUnavailable) && os.Getenv("CI") != "true":
		t.Skip(err)
	default:
		t.Fatal(err)
	}
	panic("unreachable")
}
