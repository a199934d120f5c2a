package dynamo

import (
	"errors"
	"reflect"
	"testing"

	"agentsocial/tables"
)

func TestGetUnprocessed(t *testing.T) {
	keys := []tables.Key{{PK: "a", SK: "1"}, {PK: "a", SK: "2"}, {PK: "a", SK: "1"}}
	one := `{"pk":{"S":"a"},"sk":{"S":"1"}}`
	two := `{"pk":{"S":"a"},"sk":{"S":"2"},"n":{"N":"2"}}`
	nothing := answer{status: 200, body: `{"UnprocessedKeys":{"table":{"Keys":[` + one + `,` + two + `]}}}`}

	t.Run("the rest comes later", func(t *testing.T) {
		first := answer{status: 200, body: `{"Responses":{"table":[` + one + `]},"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"a"},"sk":{"S":"2"}}]}},"ConsumedCapacity":[{"CapacityUnits":1}]}`}
		second := answer{status: 200, body: `{"Responses":{"table":[` + two + `]},"ConsumedCapacity":[{"CapacityUnits":0.5}]}`}
		db, s := play(t, first, second)
		ctx, usage := tables.WithUsage(t.Context())
		items, err := db.Get(ctx, tables.Eventual, keys...)
		if err != nil {
			t.Fatal(err)
		}
		a, b := tables.Item{"pk": "a", "sk": "1"}, tables.Item{"pk": "a", "sk": "2", "n": int64(2)}
		if !reflect.DeepEqual(items, []tables.Item{a, b, a}) {
			t.Errorf("Get: got %v, want %v", items, []tables.Item{a, b, a})
		}
		if usage.Trips() != 2 || usage.ReadUnits() != 1.5 {
			t.Errorf("usage: got %d trips, %v read units; want 2, 1.5", usage.Trips(), usage.ReadUnits())
		}
		asked := s.requests()[0].body["RequestItems"].(map[string]any)["table"].(map[string]any)["Keys"].([]any)
		if len(asked) != 2 {
			t.Errorf("keys of the first request: got %v, want each key once", asked)
		}
	})
	t.Run("the rest does not come", func(t *testing.T) {
		first := answer{status: 200, body: `{"Responses":{"table":[` + one + `]},"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"a"},"sk":{"S":"2"}}]}}}`}
		rest := answer{status: 200, body: `{"UnprocessedKeys":{"table":{"Keys":[{"pk":{"S":"a"},"sk":{"S":"2"}}]}}}`}
		for name, c := range map[string]struct {
			answers []answer
			items   []tables.Item
			refused []tables.Key
		}{
			"nothing":    {[]answer{nothing}, make([]tables.Item, 3), keys[:2]},
			"a part":     {[]answer{first, rest}, []tables.Item{{"pk": "a", "sk": "1"}, nil, {"pk": "a", "sk": "1"}}, keys[1:2]},
			"an error":   {[]answer{throttled}, make([]tables.Item, 3), keys[:2]},
			"error last": {[]answer{first, throttled}, []tables.Item{{"pk": "a", "sk": "1"}, nil, {"pk": "a", "sk": "1"}}, keys[1:2]},
		} {
			db, s := play(t, c.answers...)
			items, err := db.Get(t.Context(), tables.Eventual, keys...)
			var refused *tables.Throttled
			if !errors.As(err, &refused) || !reflect.DeepEqual(refused.Keys, c.refused) || !reflect.DeepEqual(items, c.items) {
				t.Errorf("%s: got %v, %v; want %v, and %v throttled", name, items, err, c.items, c.refused)
			}
			if n := len(s.requests()); n != len(c.answers) {
				t.Errorf("%s: got %d requests, want %d", name, n, len(c.answers))
			}
		}
	})
}

func TestReadsFail(t *testing.T) {
	for name, c := range map[string]struct {
		answer answer
		want   error
	}{"dropped": {dropped, tables.ErrUnreachable}, "broken": {broken, tables.ErrUnreachable}, "half": {half, tables.ErrUnreachable}, "throttled": {throttled, tables.ErrThrottled}} {
		t.Run(name, func(t *testing.T) {
			db, s := play(t, c.answer)
			if _, err := db.Get(t.Context(), tables.Strong, put.Key); !errors.Is(err, c.want) {
				t.Errorf("Get: got %v, want %v", err, c.want)
			}
			if _, err := db.Get(t.Context(), tables.Strong, put.Key, other.Key); !errors.Is(err, c.want) {
				t.Errorf("Get of two: got %v, want %v", err, c.want)
			}
			if _, err := db.Query(t.Context(), tables.Query{PK: "a"}); !errors.Is(err, c.want) {
				t.Errorf("Query: got %v, want %v", err, c.want)
			}
			if n := len(s.requests()); n != 3 {
				t.Errorf("got %d requests, want 3", n)
			}
		})
	}
}

// A repeated transaction costs read units.
func TestUsage(t *testing.T) {
	ctx, usage := tables.WithUsage(t.Context())
	bill := func(capacity string) answer {
		return answer{status: 200, body: `{"ConsumedCapacity":` + capacity + `}`}
	}
	db, _ := play(t, bill(`{"CapacityUnits":3}`), bill(`[{"CapacityUnits":8,"WriteCapacityUnits":8}]`), bill(`[{"CapacityUnits":4,"ReadCapacityUnits":4}]`), bill(`{"CapacityUnits":0.5}`))
	for _, tx := range []tables.Tx{single1, tokened, tokened} {
		if err := db.Commit(ctx, tx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Query(ctx, tables.Query{PK: "a"}); err != nil {
		t.Fatal(err)
	}
	if usage.WriteUnits() != 11 || usage.ReadUnits() != 4.5 || usage.Trips() != 4 {
		t.Errorf("usage: got %v write units, %v read units, %d trips; want 11, 4.5, 4", usage.WriteUnits(), usage.ReadUnits(), usage.Trips())
	}
}

func TestForeignItems(t *testing.T) {
	for _, v := range []string{`{"N":"1.5"}`, `{"N":"9223372036854775808"}`, `{"NULL":true}`, `{"NS":["1"]}`, `{"L":[{"NULL":true}]}`} {
		db, _ := play(t, answer{status: 200, body: `{"Item":{"pk":{"S":"a"},"sk":{"S":"b"},"v":` + v + `}}`})
		if items, err := db.Get(t.Context(), tables.Strong, put.Key); err == nil {
			t.Errorf("Get of an item with %s: got %v, want an error", v, items)
		}
	}
}
