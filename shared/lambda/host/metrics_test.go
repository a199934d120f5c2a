package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

type paidIn struct {
	Body struct {
		Do string `json:"do"`
	}
}

func TestFunctionsEmitEveryMetric(t *testing.T) {
	var out bytes.Buffer
	a := quiet()
	a.Log = slog.New(metrics.Handler(&out, "prod", true))

	h := Gateway(api.NewServer(a, api.Group{Name: "test", Endpoints: []api.Endpoint{
		api.On(api.Endpoint{Route: "POST /v1/do", Pure: true}, func(ctx context.Context, in *paidIn) (*sayOut, error) {
			tables.Trip(ctx)()
			tables.Spend(ctx, 0.5, 2)
			switch in.Body.Do {
			case "fail":
				return nil, errors.New("broken")
			case "refuse":
				return nil, api.Fail(api.NotFound, "Not found.")
			}
			api.From(ctx).Made(in.Body.Do)
			return &sayOut{}, nil
		}),
	}}))
	for _, do := range []string{"fail", "refuse", metrics.Posts, metrics.Registrations} {
		e := event("POST", "/v1/do", "")
		e.Headers["content-type"], e.Body = "application/json", `{"do":"`+do+`"}`
		if _, err := h(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	reader := stream.Function{Name: "inbox", Handle: func(context.Context, []tables.StreamRecord) error { return nil }}
	if _, err := Batches(a, reader)(t.Context(), batch(2)); err != nil {
		t.Fatal(err)
	}
	a.Table = &dueTable{items: []tables.Item{{"rank_sk": tables.DueSK(a.Now().Add(-time.Second), "x")}}}
	settle := schedule.Function{Name: "settle", Handle: func(ctx context.Context) error {
		_ = schedule.Each(ctx, a, tables.Query{}, 1, func(context.Context, tables.Item) error { return nil })
		return schedule.ErrUnfinished
	}}
	if err := Ticks(a, settle)(t.Context()); err != nil {
		t.Fatal(err)
	}
	returned := mailevent.Function{Name: "returns", Handle: func(context.Context, mailevent.Event) error { return nil }}
	if err := MailEvents(a, returned)(t.Context(), sesBounce("Permanent")); err != nil {
		t.Fatal(err)
	}
	a.Log.Error("notification failed")

	want := map[string]bool{}
	for _, s := range metrics.Sets(true) {
		for _, m := range s.Metrics {
			want[s.By+" "+m.Name+" "+m.Unit] = true
		}
	}
	got := map[string]bool{}
	for line := range bytes.Lines(out.Bytes()) {
		for _, name := range emitted(t, line) {
			got[name] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("emitted metrics = %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// emitted returns a line's metrics, each as "dimension name unit". It checks the line
// against the specification of the embedded metric format.
func emitted(t *testing.T, line []byte) (names []string) {
	t.Helper()
	var members map[string]any
	var document struct {
		AWS *struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	if err := errors.Join(json.Unmarshal(line, &members), json.Unmarshal(line, &document)); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if document.AWS == nil {
		return nil
	}
	if age := time.Since(time.UnixMilli(document.AWS.Timestamp)); age < -time.Minute || age > time.Hour {
		t.Errorf("the line's age is %s, want -1 minute to 1 hour: %s", age, line)
	}
	for _, d := range document.AWS.CloudWatchMetrics {
		if d.Namespace != metrics.Namespace("prod") || len(d.Dimensions) != 1 || len(d.Dimensions[0]) > 30 || len(d.Metrics) == 0 || len(d.Metrics) > 100 {
			t.Errorf("directive = %+v, want the namespace %s, one list of at most 30 dimensions, and 1 to 100 metrics", d, metrics.Namespace("prod"))
		}
		by := ""
		for _, name := range d.Dimensions[0] {
			by = name
			if v, ok := members[name].(string); !ok || v == "" || len(v) > 1024 {
				t.Errorf("dimension %s is missing or invalid in %s", name, line)
			}
		}
		for _, m := range d.Metrics {
			if _, ok := members[m.Name].(float64); !ok {
				t.Errorf("metric %s is not a number in %s", m.Name, line)
			}
			names = append(names, by+" "+m.Name+" "+m.Unit)
		}
	}
	return names
}

func TestBatches_LogASample(t *testing.T) {
	const rounds = 400
	for name, c := range map[string]struct {
		share       int64
		took, old   time.Duration
		fail        bool
		least, most int
		marked      bool
	}{
		"every one":   {0, 0, 0, false, rounds, rounds, false},
		"one of 8":    {8, 0, 0, false, rounds / 16, rounds / 4, true},
		"slow":        {8, slow, 0, false, rounds, rounds, false},
		"late":        {8, 0, late, false, rounds, rounds, false},
		"almost slow": {8, slow - 1, late - 2*slow, false, rounds / 16, rounds / 4, true},
		"failed":      {8, 0, 0, true, rounds, rounds, false},
	} {
		var out bytes.Buffer
		a, clock := quiet(), now
		a.Now = func() time.Time { return clock }
		a.Log, a.Settings.LogReads = slog.New(slog.NewJSONHandler(&out, nil)), c.share
		reader := stream.Function{Name: "inbox", Handle: func(context.Context, []tables.StreamRecord) error {
			clock = clock.Add(c.took)
			if c.fail {
				return errors.New("broken")
			}
			return nil
		}}
		for range rounds {
			clock = now
			e := batch(1)
			e.Records[0].Change.ApproximateCreationDateTime.Time = now.Add(-c.old)
			_, _ = Batches(a, reader)(t.Context(), e)
		}
		lines := 0
		for line := range bytes.Lines(out.Bytes()) {
			var members map[string]any
			if err := json.Unmarshal(line, &members); err != nil {
				t.Fatal(err)
			}
			if members["msg"] != metrics.Batch {
				continue
			}
			if lines++; (members["one_in"] == float64(c.share) && c.share > 0) != c.marked {
				t.Errorf("%s: got one_in %v, %d wanted = %t, in %s", name, members["one_in"], c.share, c.marked, line)
			}
		}
		if lines < c.least || lines > c.most {
			t.Errorf("%s: got %d lines for %d batches, want %d to %d", name, lines, rounds, c.least, c.most)
		}
	}
}

func TestLag(t *testing.T) {
	var out bytes.Buffer
	a := quiet()
	clock := now
	a.Now = func() time.Time { return clock }
	a.Log = slog.New(slog.NewJSONHandler(&out, nil))
	reader := stream.Function{Name: "inbox", Handle: func(context.Context, []tables.StreamRecord) error {
		clock = clock.Add(3 * time.Second)
		return nil
	}}
	e := batch(2)
	e.Records[0].Change.ApproximateCreationDateTime.Time = now.Add(-4 * time.Second)
	if _, err := Batches(a, reader)(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	due := &dueTable{}
	for _, late := range []time.Duration{5 * time.Second, 9 * time.Second, -time.Second} {
		due.items = append(due.items, tables.Item{"rank_sk": tables.DueSK(clock.Add(-late), "x")})
	}
	a.Table = due
	tick := schedule.Function{Name: "settle", Handle: func(ctx context.Context) error {
		return schedule.Each(ctx, a, tables.Query{}, 2, func(context.Context, tables.Item) error { return nil })
	}}
	if err := Ticks(a, tick)(t.Context()); err != nil {
		t.Fatal(err)
	}
	var lags []float64
	for line := range bytes.Lines(out.Bytes()) {
		var members map[string]any
		if err := json.Unmarshal(line, &members); err != nil {
			t.Fatal(err)
		}
		lags = append(lags, members[metrics.Lag].(float64))
	}
	if want := []float64{7000, 9000}; !slices.Equal(lags, want) {
		t.Errorf("lags = %v, want %v", lags, want)
	}
}

// dueTable returns its items for every query.
type dueTable struct {
	tables.Backend
	items []tables.Item
}

func (d *dueTable) Query(context.Context, tables.Query) (tables.Page, error) {
	return tables.Page{Items: d.items}, nil
}
