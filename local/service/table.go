package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/local/engines/dynamodb"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/dynamo/streams"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

type openTable struct {
	tables.Backend
	feed     tables.Feed   // nil if others read the stream
	lag      time.Duration // the longest delay until the feed has a commit
	wake     func()        // tells the feed that a change may come; nil if the feed notices changes itself
	dynamo   dynamo.Config // for a table in DynamoDB, else zero
	where    string
	durable  bool
	deployed bool                        // it belongs to a deployment, whose functions run by real time
	sweep    func(context.Context) error // removes expired items and trims the feed; does nothing unless the table is embedded
	close    func()

	checkpoints tables.Checkpoints // in the table's database; nil: the feed's readers begin at its oldest change
	knowsFeed   bool               // setting checkpoints beyond the feed fails
	exactTimes  bool               // the feed has the times of changes; DynamoDB Local cuts them to the minute

	setReaders func(ctx context.Context, names []string) error // declares all readers of the feed; nil: the feed keeps changes for 24 hours
	setWanted  func(wants func(tables.StreamRecord) bool)      // keeps other changes out of the feed; nil if setReaders is
}

// localTable is the table's name in DynamoDB Local, or its beginning if others share the server.
const localTable = "agentsocial"

func open(ctx context.Context, kind, dir, endpoint string, now func() time.Time) (*openTable, error) {
	name, arg, _ := strings.Cut(kind, ":")
	switch {
	case name == "embedded" && arg == "":
		return openEmbedded(dir, now)
	case name == "dynamodb-local" && arg == "":
		return openDynamoDBLocal(ctx, dir, endpoint)
	case name == "aws" && arg != "":
		return openAWS(ctx, arg)
	}
	return nil, fmt.Errorf("TABLE=%q must be embedded, dynamodb-local or aws:NAME", kind)
}

// given returns a table that the caller has opened and will close.
func given(b tables.Backend, feed tables.Feed) *openTable {
	return &openTable{
		Backend: b, feed: feed, lag: streamLag, where: "in a table that was given",
		sweep: func(context.Context) error { return nil }, close: func() {},
	}
}

// tableFile is the embedded table's file in the folder of the data.
const tableFile = "table.db"

// lostTable reports whether a folder has a service's data without its embedded table.
func lostTable(kind, dir string) bool {
	if kind != "embedded" || dir == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(dir, tableFile))
	_, ran := os.Stat(filepath.Join(dir, secretFile))
	return errors.Is(err, os.ErrNotExist) && ran == nil
}

func openEmbedded(dir string, now func() time.Time) (*openTable, error) {
	path, where := embedded.Memory, "in memory, gone at the end"
	if dir != "" {
		path = filepath.Join(dir, tableFile)
		where = path
	}
	t, err := embedded.Open(embedded.Config{Path: path, Now: now})
	if err != nil {
		return nil, err
	}
	o := &openTable{
		Backend: t, feed: t, where: where, durable: dir != "", checkpoints: t, knowsFeed: true, exactTimes: true, setReaders: t.SetReaders, setWanted: t.SetWanted,
		sweep: func(ctx context.Context) error { _, err := t.Sweep(ctx); return err },
		close: func() { _ = t.Close() }, // every commit is already durable
	}
	return o, nil
}

// streamLag bounds the delay of DynamoDB Local's streams, measured on a busy machine.
const streamLag = 300 * time.Millisecond

func openDynamoDBLocal(ctx context.Context, dir, endpoint string) (*openTable, error) {
	where := "in DynamoDB Local, in memory, gone at the end"
	if dir != "" {
		dir = filepath.Join(dir, "dynamodb-local")
		where = dir + " (DynamoDB Local)"
	}
	cfg := dynamo.Config{
		Table: localTable, Region: dynamodb.Region, Endpoint: endpoint,
		Credentials: dynamo.Credentials(dynamodb.AccessKey, dynamodb.SecretKey, ""), Timeout: awsTimeout,
	}
	var end func()
	if endpoint == "" || dir != "" {
		server, err := dynamodb.Start(context.WithoutCancel(ctx), dynamodb.Options{Dir: dir})
		if err != nil {
			return nil, err
		}
		cfg.Endpoint, end = server.Endpoint, server.Stop
	} else {
		cfg.Table += "-" + strings.ToLower(rand.Text())
		end = func() {
			// If this fails, the table is gone when the server stops.
			_, _ = cfg.Client().DeleteTable(context.WithoutCancel(ctx), &sdk.DeleteTableInput{TableName: &cfg.Table})
		}
	}
	if err := createIfMissing(ctx, cfg, true); err != nil {
		end()
		return nil, err
	}
	var positions tables.Checkpoints
	if dir != "" {
		beside := cfg
		beside.Table += "-checkpoints"
		if err := createIfMissing(ctx, beside, false); err != nil {
			end()
			return nil, err
		}
		db := dynamo.Open(beside)
		positions = checkpointItems{retry.Over(db, mathrand.Int64N), db}
	}
	feed := streams.Open(streams.Config{
		Table: cfg.Table, Region: cfg.Region, Endpoint: cfg.Endpoint, Credentials: cfg.Credentials,
		Poll: 20 * time.Millisecond, IdlePoll: time.Second,
	})
	return &openTable{
		Backend: dynamo.Open(cfg), feed: feed, lag: streamLag, wake: feed.Wake, dynamo: cfg, where: where, durable: dir != "",
		sweep: func(context.Context) error { return nil }, // reads check expiry themselves
		close: end, checkpoints: positions,
	}, nil
}

// waking wakes the table's feed after each request except GET and HEAD.
func (t *openTable) waking(h http.Handler) http.Handler {
	if t.wake == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			t.wake()
		}
	})
}

func createIfMissing(ctx context.Context, c dynamo.Config, stream bool) error {
	var exists *types.ResourceInUseException
	err := dynamo.CreateTable(ctx, c.Client(), c.Table, stream)
	if errors.As(err, &exists) {
		return nil
	}
	return err
}

// awsTimeout bounds one call. A page of a scan has a megabyte, and the connection to AWS or a busy
// DynamoDB Local may be slow.
const awsTimeout = 15 * time.Second

// openAWS finds region, credentials and endpoint (AWS_ENDPOINT_URL_DYNAMODB) as the AWS
// CLI does: in the environment and in profiles, including single sign-on.
func openAWS(ctx context.Context, name string) (*openTable, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	if c.Region == "" {
		return nil, errors.New("TABLE=aws needs a region; set AWS_REGION, or a profile with one")
	}
	o := sdk.NewFromConfig(c).Options()
	cfg := dynamo.Config{
		Table: name, Region: o.Region, Endpoint: aws.ToString(o.BaseEndpoint), Credentials: o.Credentials, Timeout: awsTimeout,
	}
	return &openTable{
		Backend: dynamo.Open(cfg), dynamo: cfg,
		where:    "the DynamoDB table " + name + " in " + c.Region,
		deployed: true,
		sweep:    func(context.Context) error { return nil },
		close:    func() {},
	}, nil
}
