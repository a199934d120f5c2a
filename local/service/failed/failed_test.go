package failed_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service/failed"
	"agentsocial/tables"
)

// invocation is the example of a failed batch in Lambda's developer guide.
const invocation = `{
    "requestContext": {
        "requestId": "316aa6d0-8154-xmpl-9af7-85d5f4a6bc81",
        "functionArn": "arn:aws:lambda:us-east-2:123456789012:function:myfunction",
        "condition": "RetryAttemptsExhausted",
        "approximateInvokeCount": 1
    },
    "responseContext": {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"},
    "version": "1.0",
    "timestamp": "2019-11-14T00:13:49.717Z",
    "DDBStreamBatchInfo": {
        "shardId": "shardId-00000001573689847184-864758bb",
        "startSequenceNumber": "800000000003126276362",
        "endSequenceNumber": "800000000003126276362",
        "approximateArrivalOfFirstRecord": "2019-11-14T00:13:19Z",
        "approximateArrivalOfLastRecord": "2019-11-14T00:13:19Z",
        "batchSize": 1,
        "streamArn": "arn:aws:dynamodb:us-east-2:123456789012:table/mytable/stream/2019-11-14T00:04:06.388"
    },
    "payload": PAYLOAD
}`

func TestRead_LambdaBatch(t *testing.T) {
	const event = `{"Records":[ {"eventID":"1", "dynamodb":{"SequenceNumber":"800000000003126276362"}} ]}`
	quoted, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{string(quoted), event} {
		b, err := failed.Read([]byte(lambdas(payload)))
		if err != nil {
			t.Fatal(err)
		}
		want := failed.Batch{
			Request: failed.Request{FunctionARN: "arn:aws:lambda:us-east-2:123456789012:function:myfunction", Condition: "RetryAttemptsExhausted", Attempts: 1},
			Version: "1.0", Timestamp: time.Date(2019, 11, 14, 0, 13, 49, 717_000_000, time.UTC),
			Place: failed.Place{Stream: "arn:aws:dynamodb:us-east-2:123456789012:table/mytable/stream/2019-11-14T00:04:06.388", Shard: "shardId-00000001573689847184-864758bb", First: "800000000003126276362", Last: "800000000003126276362", Size: 1},
			Event: failed.Event(event),
		}
		if !reflect.DeepEqual(*b, want) {
			t.Errorf("Read() = %+v, want %+v", *b, want)
		}
		if b.Reader() != "myfunction" || b.Table() != "mytable" {
			t.Errorf("Reader() = %q, Table() = %q, want myfunction and mytable", b.Reader(), b.Table())
		}
	}
	for _, text := range []string{"", "{}", "[]", `{"requestContext":{"functionArn":"arn"}}`, `{"payload":"{}"}`, lambdas("7.5e"), lambdas(`"\u12"`)} {
		if b, err := failed.Read([]byte(text)); err == nil {
			t.Errorf("Read(%q) = %+v, want an error", text, b)
		}
	}
	for arn, reader := range map[string]string{"arn:aws:lambda:x:1:function:f:$LATEST": "f", "f": "f"} {
		if b := (&failed.Batch{Request: failed.Request{FunctionARN: arn}}); b.Reader() != reader {
			t.Errorf("Reader() of %s = %q, want %q", arn, b.Reader(), reader)
		}
	}
}

func lambdas(payload string) string { return strings.Replace(invocation, "PAYLOAD", payload, 1) }

func TestFolder(t *testing.T) {
	ctx := t.Context()
	folder := failed.Folder(filepath.Join(t.TempDir(), "failed"))
	if keys, err := folder.Keys(ctx); err != nil || len(keys) != 0 {
		t.Fatalf("Keys of a missing folder = %v, %v, want none", keys, err)
	}
	at := time.Date(2026, 11, 22, 1, 2, 3, 4, time.FixedZone("", 3600))
	item := tables.Item{"pk": "P", "sk": "S", "type": "post", "n": int64(7)}
	records := []tables.StreamRecord{
		{Shard: "shard-0", Seq: "0041", Event: "INSERT", At: at, Key: item.Key(), New: item},
		{Shard: "shard-0", Seq: "0042", Event: "REMOVE", At: at, Key: item.Key(), Old: item},
	}
	b, err := failed.New("tally", 10, at, records)
	if err != nil {
		t.Fatal(err)
	}
	if b.Table() != "" {
		t.Errorf("Table() of a local batch = %q, want none", b.Table())
	}
	for range 2 { // the second replaces the first
		if err := folder.Put(b); err != nil {
			t.Fatal(err)
		}
	}
	const key = "aws/lambda/tally/shard-0/2026/11/22/2026-11-22T00.02.03-0041"
	if keys, err := folder.Keys(ctx); err != nil || !reflect.DeepEqual(keys, []string{key}) {
		t.Fatalf("Keys() = %q, %v, want %q", keys, err, key)
	}
	all, err := failed.All(ctx, folder)
	if err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], b) {
		t.Fatalf("All() = %+v, %v, want %+v", all, err, b)
	}
	if err := os.WriteFile(filepath.Join(string(folder), filepath.FromSlash(key)+".new"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if keys, err := folder.Keys(ctx); err != nil || len(keys) != 1 {
		t.Errorf("Keys with an unfinished file = %v, %v, want one", keys, err)
	}
	for range 2 {
		if err := folder.Delete(ctx, key); err != nil {
			t.Fatal(err)
		}
	}
	if keys, err := folder.Keys(ctx); err != nil || len(keys) != 0 {
		t.Errorf("Keys() after Delete = %q, %v, want none", keys, err)
	}
	if text, err := folder.Get(ctx, key); err == nil {
		t.Errorf("Get of a deleted batch = %s, want an error", text)
	}
}
