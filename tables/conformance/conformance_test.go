package conformance_test

import (
	"os"
	"testing"

	"agentsocial/local/dynamodb/dynamodbtest"
	"agentsocial/tables"
	"agentsocial/tables/conformance"
	"agentsocial/tables/embedded"
)

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

func TestDynamoDBLocal(t *testing.T) {
	conformance.Run(t, func(t *testing.T) tables.Backend { b, _ := dynamodbtest.Open(t); return b })
	conformance.RunFeed(t, func(t *testing.T) (tables.Backend, tables.Feed) { return dynamodbtest.Open(t) })
}

func TestEmbedded(t *testing.T) {
	conformance.Run(t, func(t *testing.T) tables.Backend { return openEmbedded(t) })
	conformance.RunFeed(t, func(t *testing.T) (tables.Backend, tables.Feed) { b := openEmbedded(t); return b, b })
}

func openEmbedded(t *testing.T) *embedded.Table {
	t.Helper()
	b, err := embedded.Open(embedded.Config{Path: embedded.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}
