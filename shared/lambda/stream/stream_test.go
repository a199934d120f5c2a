package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"pgregory.net/rapid"

	"agentsocial/tables"
)

// values generates every kind of value of an item, nested up to depth levels.
func values(depth int) *rapid.Generator[any] {
	kinds := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.SliceOf(rapid.Byte()).AsAny(),
		rapid.Custom(func(t *rapid.T) any {
			return tables.NewSet(rapid.SliceOfN(rapid.String(), 1, 4).Draw(t, "members")...)
		}),
	}
	if depth > 0 {
		kinds = append(kinds,
			rapid.Custom(func(t *rapid.T) any {
				return rapid.MapOfN(rapid.String(), values(depth-1), 0, 3).Draw(t, "map")
			}),
			rapid.Custom(func(t *rapid.T) any {
				return rapid.SliceOfN(values(depth-1), 0, 3).Draw(t, "list")
			}))
	}
	return rapid.OneOf(kinds...)
}

func image(t *rapid.T, key tables.Key, label string) tables.Item {
	item := tables.Item(rapid.MapOfN(rapid.StringMatching(`[a-z]{3,6}`), values(2), 0, 5).Draw(t, label))
	item[tables.AttrPK], item[tables.AttrSK] = key.PK, key.SK
	return item
}

func TestFromLambda_InverseOfToLambda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []tables.StreamRecord
		for i := range rapid.IntRange(0, 3).Draw(t, "records") {
			r := tables.StreamRecord{
				Seq: fmt.Sprintf("%020d", i), At: time.Unix(rapid.Int64Range(1, 1<<33).Draw(t, "at"), 0),
				Key: tables.Key{PK: rapid.StringN(1, 9, -1).Draw(t, "pk"), SK: rapid.StringN(1, 9, -1).Draw(t, "sk")},
			}
			r.Event = rapid.SampledFrom([]string{"INSERT", "MODIFY", "REMOVE"}).Draw(t, "event")
			if r.Event != "INSERT" {
				r.Old = image(t, r.Key, "old")
			}
			if r.Event != "REMOVE" {
				r.New = image(t, r.Key, "new")
			} else {
				r.Expired = rapid.Bool().Draw(t, "expired")
			}
			want = append(want, r)
		}
		b, err := json.Marshal(ToLambda(want))
		if err != nil {
			t.Fatal(err)
		}
		var e events.DynamoDBEvent
		if err := json.Unmarshal(b, &e); err != nil {
			t.Fatal(err)
		}
		got, err := FromLambda(e)
		if err != nil || len(got) != len(want) {
			t.Fatalf("FromLambda: got %d records, %v, want %d", len(got), err, len(want))
		}
		for i := range want {
			if d := got[i].At.Sub(want[i].At).Abs(); d > time.Millisecond { // sent as a float
				t.Errorf("FromLambda: record %d has At = %s, want %s within 1 ms", i, got[i].At, want[i].At)
			}
			got[i].At = want[i].At
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("FromLambda: got\n%#v\nwant\n%#v", got[i], want[i])
			}
		}
	})
}

func TestForeignValuesAreRefused(t *testing.T) {
	foreign := map[string]events.DynamoDBAttributeValue{
		"null": events.NewNullAttribute(), "a fraction": events.NewNumberAttribute("1.5"),
		"beyond int64": events.NewNumberAttribute("9223372036854775808"), "a number set": events.NewNumberSetAttribute([]string{"1"}),
		"a binary set": events.NewBinarySetAttribute([][]byte{{1}}),
	}
	for name, v := range foreign {
		for where, attr := range map[string]events.DynamoDBAttributeValue{
			"plain": v, "in a list": events.NewListAttribute([]events.DynamoDBAttributeValue{v}),
			"in a map": events.NewMapAttribute(map[string]events.DynamoDBAttributeValue{"in": v}),
		} {
			e := ToLambda([]tables.StreamRecord{{Event: "INSERT", Key: tables.Key{PK: "P", SK: "S"}, New: tables.Item{"pk": "P", "sk": "S"}}})
			e.Records[0].Change.NewImage["odd"] = attr
			if r, err := FromLambda(e); err == nil {
				t.Errorf("FromLambda with %s, %s = %v, want an error", name, where, r)
			}
		}
	}
}

func TestFromLambda_Expired(t *testing.T) {
	for _, c := range []struct {
		by   *events.DynamoDBUserIdentity
		want bool
	}{
		{nil, false}, {&events.DynamoDBUserIdentity{Type: "Service", PrincipalID: "dynamodb.amazonaws.com"}, true},
		{&events.DynamoDBUserIdentity{Type: "Service", PrincipalID: "other.amazonaws.com"}, false},
		{&events.DynamoDBUserIdentity{Type: "User", PrincipalID: "dynamodb.amazonaws.com"}, false},
	} {
		e := ToLambda([]tables.StreamRecord{{Event: "REMOVE", Old: tables.Item{"pk": "P", "sk": "S"}}})
		e.Records[0].UserIdentity = c.by
		if r, err := FromLambda(e); err != nil || r[0].Expired != c.want {
			t.Errorf("removal by %+v: got %v, %v, want expired: %v", c.by, r, err, c.want)
		}
	}
}

func TestFunction_Match(t *testing.T) {
	item := func(typ string) tables.Item { return tables.Item{"pk": "P", "sk": "S", tables.AttrType: typ} }
	f := Function{Filters: []Filter{{"post", []string{"INSERT", "REMOVE"}}, {"profile", []string{"MODIFY"}}}}
	for _, c := range []struct {
		event    string
		old, now tables.Item
		want     bool
	}{
		{"INSERT", nil, item("post"), true},
		{"MODIFY", item("post"), item("post"), false},
		{"REMOVE", item("post"), nil, true}, // the old item counts
		{"REMOVE", item("profile"), nil, false},
		{"REMOVE", item("other"), nil, false},
		{"INSERT", nil, item("profile"), false},
		{"MODIFY", item("post"), item("profile"), true}, // the new item counts
		{"MODIFY", item("profile"), item("post"), false},
		{"INSERT", nil, item(""), false},
	} {
		r := tables.StreamRecord{Event: c.event, Old: c.old, New: c.now}
		if got := f.Match(r); got != c.want {
			t.Errorf("Match of %s %v → %v = %v, want %v", c.event, c.old, c.now, got, c.want)
		}
		if got := Matcher(Function{Filters: f.Filters[:1]}, Function{Filters: f.Filters[1:]})(r); got != c.want {
			t.Errorf("Matcher of %s %v → %v = %v, want %v", c.event, c.old, c.now, got, c.want)
		}
	}
	if (Function{}).Match(tables.StreamRecord{Event: "INSERT", New: item("post")}) {
		t.Error("Match without filters = true, want false")
	}
}

func batch(n int) []tables.StreamRecord {
	records := make([]tables.StreamRecord, n)
	for i := range records {
		records[i] = tables.StreamRecord{Seq: fmt.Sprint(i), Event: "INSERT", New: tables.Item{tables.AttrType: "post"}}
	}
	return records
}

func TestRun_FindsFailingRecord(t *testing.T) {
	for n := range 20 {
		for poison := range n + 1 { // if it is n, no record fails
			done := map[string]bool{}
			calls, alone := 0, false
			f := Function{Name: "test", Handle: func(_ context.Context, records []tables.StreamRecord) error {
				calls++
				alone = len(records) == 1
				if slices.ContainsFunc(records, func(r tables.StreamRecord) bool { return r.Seq == fmt.Sprint(poison) }) {
					return errors.New("poison")
				}
				for _, r := range records {
					done[r.Seq] = true
				}
				return nil
			}}
			var log bytes.Buffer
			got := f.Run(t.Context(), slog.New(slog.NewTextHandler(&log, nil)), batch(n))
			if got != poison {
				t.Errorf("%d records, failing at %d: Run = %d, want %[2]d", n, poison, got)
			}
			for i := range poison {
				if !done[fmt.Sprint(i)] {
					t.Errorf("%d records, failing at %d: record %d was not processed", n, poison, i)
				}
			}
			if len(done) != poison {
				t.Errorf("%d records, failing at %d: %d processed, want %[2]d", n, poison, len(done))
			}
			logged := bytes.Contains(log.Bytes(), fmt.Appendf(nil, "seq=%d type=post", poison))
			switch {
			case poison < n && (!alone || calls > 12 || !logged):
				t.Errorf("%d records, failing at %d: %d calls, the last one with a single record: %t, log %s; want at most 12, true, and a line with seq=%[2]d type=post", n, poison, calls, alone, &log)
			case poison == n && (calls > 1 || log.Len() > 0):
				t.Errorf("%d good records: %d calls, logged: %s; want at most 1 call and no line", n, calls, &log)
			}
		}
	}
}

func TestRun_EndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	f := Function{Handle: func(context.Context, []tables.StreamRecord) error {
		calls++
		cancel()
		return errors.New("too late")
	}}
	if n := f.Run(ctx, slog.New(slog.DiscardHandler), batch(64)); n != 0 || calls != 1 {
		t.Errorf("Run, with its context cancelled during the first call: got %d after %d calls, want 0 after 1", n, calls)
	}
}
