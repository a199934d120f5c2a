package streams

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

func TestParentsFirst(t *testing.T) {
	got := parentsFirst([]tables.Shard{{ID: "c", Parent: "b"}, {ID: "d", Parent: "b"}, {ID: "b", Parent: "a"}, {ID: "z"}, {ID: "a", Parent: "gone"}})
	want := []tables.Shard{{ID: "a"}, {ID: "b", Parent: "a"}, {ID: "c", Parent: "b"}, {ID: "d", Parent: "b"}, {ID: "z"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("parentsFirst: got %v, want %v", got, want)
	}
}

// exchange is a request and its answer. holds is a part of the request's body. The answer is
// an error's code or a body.
type exchange struct{ api, holds, code, body string }

// stalled is the code of an answer that comes late.
const stalled = "stalled"

// play opens a feed on a fake DynamoDB Streams that expects these requests, in order.
func play(t *testing.T, exchanges ...exchange) *Feed {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		api := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDBStreams_20120810.")
		if n == len(exchanges) || exchanges[n].api != api || !strings.Contains(string(body), exchanges[n].holds) {
			t.Errorf("request %d, counted from 0: got %s %s, want these in order: %+v", n, api, body, exchanges)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		x := exchanges[n]
		n++
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		if x.code == stalled {
			time.Sleep(stall)
		} else if x.code != "" {
			w.WriteHeader(http.StatusBadRequest)
			json.NewEncoder(w).Encode(map[string]string{"__type": x.code})
			return
		}
		io.WriteString(w, x.body)
	}))
	t.Cleanup(func() {
		server.Close()
		if n != len(exchanges) {
			t.Errorf("got %d requests, want %d", n, len(exchanges))
		}
	})
	return Open(Config{
		Table: "table", Region: "local", Endpoint: server.URL, Credentials: dynamo.Credentials("id", "secret", ""),
		Poll: time.Millisecond,
	})
}

const stall = 50 * time.Millisecond

const oneRecord = `{"Records":[{"eventName":"REMOVE","userIdentity":{"Type":"Service","PrincipalId":"dynamodb.amazonaws.com"},"dynamodb":{` +
	`"ApproximateCreationDateTime":1700000000,"SequenceNumber":"8","Keys":{"pk":{"S":"a"},"sk":{"S":"b"}},"OldImage":{"pk":{"S":"a"},"sk":{"S":"b"}}}}]`

var stream = exchange{"ListStreams", `"table"`, "", `{"Streams":[{"StreamArn":"old","StreamLabel":"2025"},{"StreamArn":"arn","StreamLabel":"2026"}]}`}

func TestChanges(t *testing.T) {
	key := tables.Key{PK: "a", SK: "b"}
	want := []tables.StreamRecord{{
		Shard: "s", Seq: "8", Event: "REMOVE", At: time.Unix(1700000000, 0).UTC(), Key: key,
		Old: tables.Item{"pk": "a", "sk": "b"}, Expired: true,
	}}
	wait := time.Minute
	read := func(t *testing.T, f *Feed, after string, want []tables.StreamRecord, wantDone bool) {
		t.Helper()
		got, done, err := f.Changes(t.Context(), "s", after, 10, wait)
		if err != nil || done != wantDone || !reflect.DeepEqual(got, want) {
			t.Errorf("Changes after %q: got %+v, done %t, error %v; want %+v, done %t", after, got, done, err, want, wantDone)
		}
	}
	t.Run("an iterator is kept", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"TRIM_HORIZON"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "", `{"Records":[],"NextShardIterator":"i2"}`},
			exchange{"GetRecords", "i2", "", oneRecord + `,"NextShardIterator":"i3"}`},
			exchange{"GetRecords", "i3", "", `{"Records":[]}`})
		read(t, f, "", want, false)
		read(t, f, "8", nil, true)
	})
	t.Run("a change makes pauses short again", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"TRIM_HORIZON"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "", oneRecord + `}`})
		f.sign = time.Time{}
		read(t, f, "", want, true)
		if time.Since(f.sign) > time.Minute {
			t.Errorf("time of the last sign of a change: got %s, want it within the last minute", f.sign)
		}
	})
	t.Run("a removal under another name", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"TRIM_HORIZON"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "", strings.Replace(oneRecord, "REMOVE", "UNKNOWN_TO_SDK_VERSION", 1) + `}`})
		read(t, f, "", want, true)
	})
	t.Run("another position needs a new iterator", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"TRIM_HORIZON"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "", oneRecord + `,"NextShardIterator":"i2"}`},
			exchange{"GetShardIterator", `"SequenceNumber":"7"`, "", `{"ShardIterator":"j1"}`},
			exchange{"GetRecords", "j1", "", oneRecord + `}`})
		read(t, f, "", want, false)
		read(t, f, "7", want, true)
	})
	wait = 0 // one page is still read
	t.Run("an iterator expires", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"AFTER_SEQUENCE_NUMBER"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "ExpiredIteratorException", ""},
			exchange{"GetShardIterator", `"AFTER_SEQUENCE_NUMBER"`, "", `{"ShardIterator":"i2"}`},
			exchange{"GetRecords", "i2", "", oneRecord + `}`})
		read(t, f, "7", want, true)
	})
	wait = stall / 5
	t.Run("a read takes longer than the wait", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"AFTER_SEQUENCE_NUMBER"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", stalled, `{"Records":[],"NextShardIterator":"i2"}`},
			exchange{"GetRecords", "i2", "", oneRecord + `,"NextShardIterator":"i3"}`})
		read(t, f, "7", want, false)
	})
	wait = 2 * time.Millisecond // two pauses, and a read after each
	t.Run("nothing comes", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"AFTER_SEQUENCE_NUMBER"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "", `{"Records":[],"NextShardIterator":"i2"}`},
			exchange{"GetRecords", "i2", "", `{"Records":[],"NextShardIterator":"i3"}`},
			exchange{"GetRecords", "i3", "", `{"Records":[],"NextShardIterator":"i4"}`})
		read(t, f, "7", nil, false)
	})
	wait = time.Minute
	t.Run("a position is trimmed", func(t *testing.T) {
		f := play(t, stream,
			exchange{"GetShardIterator", `"AFTER_SEQUENCE_NUMBER"`, "TrimmedDataAccessException", ""},
			exchange{"GetShardIterator", `"TRIM_HORIZON"`, "", `{"ShardIterator":"i1"}`},
			exchange{"GetRecords", "i1", "TrimmedDataAccessException", ""},
			exchange{"GetShardIterator", `"TRIM_HORIZON"`, "", `{"ShardIterator":"i2"}`},
			exchange{"GetRecords", "i2", "", `{"Records":[],"NextShardIterator":"i3"}`},
			exchange{"GetRecords", "i3", "", oneRecord + `}`})
		read(t, f, "7", want, true)
	})
}

func TestShards_Pages(t *testing.T) {
	f := play(t, stream,
		exchange{"DescribeStream", `"arn"`, "", `{"StreamDescription":{"Shards":[{"ShardId":"b","ParentShardId":"a"}],"LastEvaluatedShardId":"b"}}`},
		exchange{"DescribeStream", `"ExclusiveStartShardId":"b"`, "", `{"StreamDescription":{"Shards":[{"ShardId":"a","ParentShardId":"gone"}]}}`})
	got, err := f.Shards(t.Context())
	if want := []tables.Shard{{ID: "a"}, {ID: "b", Parent: "a"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Shards: got %v, error %v; want %v", got, err, want)
	}
}

func TestPausesOfAnIdleShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const short, long = 20 * time.Millisecond, time.Second
		f := Open(Config{Table: "table", Region: "local", Poll: short, IdlePoll: long})
		paused := func(left time.Duration) time.Duration {
			t.Helper()
			begun := time.Now()
			d, err := f.pause(t.Context(), left)
			if err != nil || d != time.Since(begun) {
				t.Fatalf("pause: got %s and error %v after %s, want the time that passed and no error", d, err, time.Since(begun))
			}
			return d
		}
		if got := paused(time.Hour); got != short {
			t.Errorf("first pause: got %s, want %s", got, short)
		}
		begun, reads := time.Now(), 0
		for time.Since(begun) < time.Minute {
			idle := time.Since(f.sign)
			if got, most := paused(time.Hour), max(short, idle/4); got > most || got > long {
				t.Fatalf("pause after %[2]s without a change: got %[1]s, want at most %[3]s", got, idle, min(most, long))
			}
			reads++
		}
		if reads > 80 {
			t.Errorf("reads in an idle minute: got %d, want at most 80", reads)
		}
		if got := paused(300 * time.Millisecond); got != 300*time.Millisecond {
			t.Errorf("pause with 300 ms left: got %s, want 300 ms", got)
		}
		time.AfterFunc(long/2, f.Wake)
		if got := paused(time.Hour); got != long/2 {
			t.Errorf("pause with a Wake after %[2]s: got %[1]s, want %[2]s", got, long/2)
		}
		time.AfterFunc(short/2, f.Wake)
		if got := paused(time.Hour); got != short {
			t.Errorf("pause right after Wake: got %s, want %s", got, short)
		}

		steady := Open(Config{Table: "table", Region: "local", Poll: short})
		time.Sleep(time.Minute)
		if got, err := steady.pause(t.Context(), time.Hour); got != short || err != nil {
			t.Errorf("pause without IdlePoll: got %s, error %v; want %s", got, err, short)
		}
	})
}
