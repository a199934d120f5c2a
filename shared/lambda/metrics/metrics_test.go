package metrics

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// written returns the line that Handler writes for a record.
func written(t *testing.T, detailed bool, level slog.Level, msg string, args ...any) map[string]any {
	t.Helper()
	var out bytes.Buffer
	log := slog.New(Handler(&out, "prod", detailed)).With("request_id", "r1")
	log.Log(t.Context(), level, msg, args...)
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Fatalf("got %d lines, want 1: %s", n, &out)
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("%s: %v", &out, err)
	}
	if line["request_id"] != "r1" || line["msg"] != msg {
		t.Errorf("got %s, want request_id r1 and msg %q", &out, msg)
	}
	return line
}

func TestLines(t *testing.T) {
	const ms, n = `","Unit":"Milliseconds"}`, `","Unit":"Count"}`
	set := func(by string, metrics ...string) string {
		if by != "" {
			by = `"` + by + `"`
		}
		return `{"Dimensions":[[` + by + `]],"Metrics":[{"Name":"` + strings.Join(metrics, `,{"Name":"`) + `],"Namespace":"agentsocial/prod"}`
	}
	ok := []any{"route", "GET /v1/me", "status", 200, "ms", 1.5, "trips", 2, "read_units", 3.5, "write_units", 0.0}
	bad := append(ok[:len(ok):len(ok)], "code", "invalid", "refused", 1)
	for _, c := range []struct {
		what     string
		detailed bool
		level    slog.Level
		msg      string
		args     []any
		want     []string
	}{
		{"zeros left out", true, slog.LevelInfo, Request, ok, []string{set("route", "ms"+ms, "trips"+n, "read_units"+n)}},
		{"without the table", true, slog.LevelInfo, Request, []any{"route", "GET /", "ms", 0.1, "trips", 0, "read_units", 0.0}, []string{set("route", "ms"+ms)}},
		{"not by endpoint", false, slog.LevelInfo, Request, ok, nil},
		{"refused", true, slog.LevelInfo, Request, bad, []string{set("route", "ms"+ms, "trips"+n, "read_units"+n, "refused"+n), set("code", "refused"+n)}},
		{"refused, not by endpoint", false, slog.LevelInfo, Request, bad, nil},
		{"failed, not counted as logged", false, slog.LevelError, Request, []any{"route", "none", "code", "internal", "failed", 1}, []string{set("code", "failed"+n)}},
		{"a post", false, slog.LevelInfo, Request, append(ok[:len(ok):len(ok)], "posts", 1), []string{set("", "posts"+n)}},
		{"a latency of zero", true, slog.LevelInfo, Request, []any{"route", "none", "ms", 0.0}, []string{set("route", "ms"+ms)}},
		{"a batch", true, slog.LevelInfo, Batch, []any{"function", "inbox", "ms", 3, "lag_ms", 0, "read_units", 1.5}, []string{set("function", "lag_ms"+ms)}},
		{"a batch, not in detail", false, slog.LevelInfo, Batch, []any{"function", "inbox", "ms", 3, "lag_ms", 9}, nil},
		{"a tick", true, slog.LevelInfo, Tick, []any{"function", "settle", "lag_ms", 7, "unfinished", 1}, []string{set("", "unfinished"+n), set("function", "lag_ms"+ms)}},
		{"a tick that finished on time", true, slog.LevelInfo, Tick, []any{"function", "settle", "lag_ms", 0, "unfinished", 0}, nil},
		{"a tick, not in detail", false, slog.LevelInfo, Tick, []any{"function", "settle", "lag_ms", 7, "unfinished", 1}, []string{set("", "unfinished"+n)}},
		{"a warning", true, slog.LevelWarn, "something", []any{"ms", 1, "route", "x"}, []string{set("msg", "logged"+n)}},
		{"an error", false, slog.LevelError, "something else", nil, []string{set("msg", "logged"+n)}},
		{"any other", true, slog.LevelInfo, "notification", []any{"ms", 1, "posts", 1}, nil},
	} {
		before := time.Now().UnixMilli()
		line := written(t, c.detailed, c.level, c.msg, c.args...)
		if c.want == nil {
			if line["_aws"] != nil {
				t.Errorf("%s: _aws = %v, want none", c.what, line["_aws"])
			}
			continue
		}
		aws := line["_aws"].(map[string]any)
		got, err := json.Marshal(aws["CloudWatchMetrics"])
		if err != nil {
			t.Fatal(err)
		}
		if want := "[" + strings.Join(c.want, ",") + "]"; string(got) != want {
			t.Errorf("%s: metrics =\n  %s, want\n  %s", c.what, got, want)
		}
		if at := int64(aws["Timestamp"].(float64)); len(aws) != 2 || at < before || at > time.Now().UnixMilli() {
			t.Errorf("%s: _aws = %v, want two members, and a timestamp since %d", c.what, aws, before)
		}
	}
}

func TestLinesHaveLevelAndTimestamp(t *testing.T) {
	for level, want := range map[slog.Level]string{slog.LevelInfo: "INFO", slog.LevelWarn: "WARN", slog.LevelError: "ERROR"} {
		before := time.Now().Truncate(time.Microsecond)
		line := written(t, true, level, "something", "deep", slog.GroupValue(slog.Time("time", before)))
		stamp, _ := line["timestamp"].(string)
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil || at.Before(before) || line["time"] != nil || line["level"] != want || line["deep"].(map[string]any)["time"] == nil {
			t.Errorf("%s: line = %v (%v), want the level and a timestamp, and no change in a group", want, line, err)
		}
	}
}

func TestNoMetricsInGroups(t *testing.T) {
	var out bytes.Buffer
	slog.New(Handler(&out, "prod", true)).WithGroup("deep").With("a", 1).Error(Tick, "function", "settle", "unfinished", 1)
	if s := out.String(); strings.Contains(s, "_aws") || !strings.Contains(s, `"deep":{"a":1,"function":"settle"`) {
		t.Errorf("line = %s, want no _aws, and the members in the group deep", s)
	}
}

func TestLinesStayWhole(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(Handler(&out, "prod", true))
	var work sync.WaitGroup
	for n := range 8 {
		work.Go(func() {
			for range 50 {
				switch n % 3 {
				case 0:
					log.Info("plain")
				case 1:
					log.Warn("warned")
				default:
					log.Info(Tick, "function", "settle", "unfinished", 1)
				}
			}
		})
	}
	work.Wait()
	for l := range strings.Lines(out.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		if aws := fmt.Sprint(line["_aws"]); (line["msg"] == "plain") != (line["_aws"] == nil) ||
			line["msg"] == "warned" && !strings.Contains(aws, Logged) || line["msg"] == Tick && !strings.Contains(aws, Unfinished) {
			t.Errorf("got %q, want no metrics if plain, %s if warned, %s for a tick", l, Logged, Unfinished)
		}
	}
}

// The handler holds a line's metrics as the bits of a uint64.
func TestSets(t *testing.T) {
	seen := map[string]bool{}
	bits := map[string]int{}
	for _, s := range Sets(true) {
		for _, m := range s.Metrics {
			if key := s.Line + "/" + s.By + "/" + m.Name; seen[key] {
				t.Errorf("%s is declared twice", key)
			} else {
				seen[key] = true
			}
			if bits[s.Line]++; bits[s.Line] > 64 {
				t.Errorf("line %q has more than 64 metrics", s.Line)
			}
		}
	}
	if few := Sets(false); !reflect.DeepEqual(few, Sets(true)[:len(few)]) {
		t.Error("Sets(true) does not begin with Sets(false)")
	}
}

// requestLine logs a line like those of shared/api.
func requestLine(log *slog.Logger) {
	log.LogAttrs(context.Background(), slog.LevelInfo, Request,
		slog.String("request_id", "JKJaXmPLvHcESHA="), slog.String("method", "POST"), slog.String("route", "POST /v1/c/{ch}/posts"),
		slog.Int("status", 201), slog.Float64("ms", 12.345), slog.Int("bytes", 512), slog.Int("trips", 2),
		slog.Float64("read_units", 3.5), slog.Float64("write_units", 13), slog.Int("posts", 1), slog.String("agent", "ag_01JABCDEFGHJKMNPQRSTVWXYZ0"))
}

// The test compares the cheapest of many lines, because the garbage collector and the race
// detector empty pools.
func TestAllocations(t *testing.T) {
	of := func(h slog.Handler) float64 {
		log, least := slog.New(h), math.Inf(1)
		for range 50 {
			least = min(least, testing.AllocsPerRun(1, func() { requestLine(log) }))
		}
		return least
	}
	if plain, with := of(slog.NewJSONHandler(io.Discard, nil)), of(Handler(io.Discard, "prod", true)); with > plain+4 {
		t.Errorf("got %v allocations with metrics and %v without, want at most 4 more", with, plain)
	}
}

func BenchmarkPlainLine(b *testing.B) {
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	for b.Loop() {
		requestLine(log)
	}
}

func BenchmarkLineWithMetrics(b *testing.B) {
	log := slog.New(Handler(io.Discard, "prod", true))
	for b.Loop() {
		requestLine(log)
	}
}
