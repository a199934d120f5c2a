package conformance_test

import (
	"os"
	"path/filepath"
	"testing"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/tables"
	"agentsocial/tables/conformance"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/embedded"
)

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

func TestDynamoDBLocal(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) tables.Backend { return dynamo.Open(dynamodbtest.Config(t)) })
	conformance.RunFeed(t, func(t *testing.T) (tables.Backend, tables.Feed) { return dynamodbtest.Open(t) })
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(*testing.T) string{"memory": inMemory, "file": inFile} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, func(t *testing.T) tables.Backend { return openEmbedded(t, path(t)) })
			conformance.RunFeed(t, func(t *testing.T) (tables.Backend, tables.Feed) {
				b := openEmbedded(t, path(t))
				return b, b
			})
		})
	}
}

func inMemory(*testing.T) string { return embedded.Memory }
func inFile(t *testing.T) string { return filepath.Join(t.TempDir(), "table") }

func openEmbedded(t *testing.T, path string) *embedded.Table {
	t.Helper()
	b, err := embedded.Open(embedded.Config{Path: path})
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
