package service_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

const (
	memoryPath   = "/v1/me/memory"
	previousPath = "/v1/me/memory?version=previous"
	memoryMost   = 262144
)

// remember returns a request that writes an agent's memory. preconditions are names and
// values of headers.
func (r *running) remember(a *transcripts.Agent, text string, preconditions ...string) *transcripts.Request {
	q := r.request(a, "PUT", memoryPath, text)
	for i := 0; i < len(preconditions); i += 2 {
		q.Header.Set(preconditions[i], preconditions[i+1])
	}
	return q
}

// recall reads a version of an agent's memory, and checks its ETag and size.
func (r *running) recall(a *transcripts.Agent, path string) string {
	r.t.Helper()
	ans := r.call(a, "GET", path, "")
	if ans.Status != 200 {
		r.t.Errorf("GET %s: got %d %.300s, want 200", path, ans.Status, ans.Body)
		return ""
	}
	if etag := ans.Header.Get("ETag"); etag != tagOf(string(ans.Body)) && !(etag == "" && len(ans.Body) == 0) {
		r.t.Errorf("GET %s: ETag of %.60q…: got %s, want %s", path, ans.Body, etag, tagOf(string(ans.Body)))
	}
	if size := ans.Header.Get("X-Memory-Size"); size != fmt.Sprint(len(ans.Body)) {
		r.t.Errorf("GET %s: X-Memory-Size: got %s, want %d", path, size, len(ans.Body))
	}
	return string(ans.Body)
}

func tagOf(text string) string { return fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text))) }

// The loser gets the ETag of the memory before or after the race.
func TestRaceForMemory(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() {
			texts := [2]string{fmt.Sprintf("round %d, one", i), fmt.Sprintf("round %d, other", i)}
			condition := []string{"If-None-Match", "*"}
			before := r.recall(fox, memoryPath)
			if i > 0 {
				condition = []string{"If-Match", tagOf(before)}
			}
			answers, n := r.together(r.remember(fox, texts[0], condition...), r.remember(fox, texts[1], condition...))
			if n[200] != 1 || n[412] != 1 {
				t.Fatalf("round %d: got outcomes %v, want 200 and 412; the answers are %s and %s", i, n, answers[0].Body, answers[1].Body)
			}
			winner := 0
			if answers[1].Status == 200 {
				winner = 1
			}
			if got := answers[1-winner].Header.Get("ETag"); got != tagOf(texts[winner]) && got != tagOf(before) {
				t.Fatalf("round %d: ETag for the loser: got %s, want that of the memory before or after the race", i, got)
			}
			if now, was := r.recall(fox, memoryPath), r.recall(fox, previousPath); now != texts[winner] || was != before {
				t.Fatalf("round %d: memory and previous version: got %q and %q, want %q and %q", i, now, was, texts[winner], before)
			}
		}
	})
}

// Both of two concurrent writes succeed. A concurrent read returns a whole text.
func TestMemoryWithoutPreconditions(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		var reads atomic.Int64
		var over atomic.Bool
		var readers sync.WaitGroup
		for _, path := range []string{memoryPath, previousPath} {
			readers.Go(func() {
				for !over.Load() {
					r.recall(fox, path)
					reads.Add(1)
				}
			})
		}
		for i := range r.rounds() / 2 {
			texts := [2]string{text(2*i, 2000), text(2*i+1, 3000)}
			if answers, n := r.together(r.remember(fox, texts[0]), r.remember(fox, texts[1])); n[200] != 2 {
				t.Errorf("round %d: got outcomes %v, want 2 × 200; the answers are %s and %s", i, n, answers[0].Body, answers[1].Body)
				break
			}
			now, was := r.recall(fox, memoryPath), r.recall(fox, previousPath)
			if !(now == texts[0] && was == texts[1] || now == texts[1] && was == texts[0]) {
				t.Errorf("round %d: memory and previous version: got %.40q… and %.40q…, want the two that were written", i, now, was)
				break
			}
		}
		over.Store(true)
		readers.Wait()
		t.Logf("%d concurrent reads", reads.Load())
	})
}

// text returns random ASCII, which compresses badly. n is the seed.
func text(n, size int) string {
	rng := rand.New(rand.NewPCG(11, uint64(n)))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rng.IntN(128))
	}
	return string(b)
}

func TestMemorySizes(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		wide := make([]rune, memoryMost/4)
		for i := range wide {
			wide[i] = rune(0x10000 + rand.IntN(0x100000))
		}
		before := ""
		for _, fits := range []string{text(1, memoryMost), string(wide), strings.Repeat("\x00", memoryMost), text(2, memoryMost)} {
			if ans := r.send(r.remember(fox, fits)); ans.Status != 200 || ans.Text("size") != fmt.Sprint(memoryMost) || ans.Header.Get("ETag") != tagOf(fits) {
				t.Fatalf("a text of the maximum size: got %d %s, ETag %s; want 200, size %d, ETag %s", ans.Status, ans.Body, ans.Header.Get("ETag"), memoryMost, tagOf(fits))
			}
			if r.recall(fox, memoryPath) != fits || r.recall(fox, previousPath) != before {
				t.Fatal("the memory or its previous version differs from what was written")
			}
			before = fits
		}
		r.want(r.send(r.remember(fox, text(3, memoryMost+1))), 413, "too_large")
		for n, status := range map[int]int{memoryMost: 200, memoryMost + 1: 413} {
			q := r.remember(fox, text(n, n))
			req, err := http.NewRequestWithContext(t.Context(), q.Method, r.URL+q.Target, io.MultiReader(bytes.NewReader(q.Body)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = q.Header
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if req.ContentLength != 0 || res.StatusCode != status { // 0 with a body means unknown
				t.Errorf("%d bytes in chunks: got Content-Length %d and status %d, want 0 and %d", n, req.ContentLength, res.StatusCode, status)
			}
		}
		http.DefaultClient.CloseIdleConnections() // Stop would wait for them
		if now := r.recall(fox, memoryPath); now != text(memoryMost, memoryMost) {
			t.Error("a refused write changed the memory")
		}
	})
}

// getInterceptor calls do before it reads a memory slot. times counts down the calls left.
type getInterceptor struct {
	tables.Backend
	times atomic.Int64
	do    func()
}

func (m *getInterceptor) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if strings.HasPrefix(keys[0].SK, "MEMORY#") && m.times.Add(-1) >= 0 {
		m.do()
	}
	return m.Backend.Get(ctx, c, keys...)
}

// A reader reads again if the slot it wants was rewritten meanwhile.
func TestMemoryWrittenWhileRead(t *testing.T) {
	t.Parallel()
	m := &getInterceptor{}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend {
		m.Backend = b
		return m
	}})
	fox := r.join("fox")
	n := 0
	m.do = func() {
		for range 2 {
			n++
			r.want(r.send(r.remember(fox, text(n, 100))), 200, "")
		}
	}
	m.do()
	for times := range int64(5) {
		m.times.Store(times)
		if got := r.recall(fox, memoryPath); got != text(n, 100) {
			t.Errorf("overtaken %d times: memory: got %q, want %q", times, got, text(n, 100))
		}
		m.times.Store(times)
		if got := r.recall(fox, previousPath); got != text(n-1, 100) {
			t.Errorf("overtaken %d times: previous version: got %q, want %q", times, got, text(n-1, 100))
		}
	}
	m.times.Store(1 << 40)
	if ans := r.call(fox, "GET", memoryPath, ""); ans.Status != 409 || ans.Text("error.code") != "busy" {
		t.Errorf("overtaken always: got %d %s, want 409 busy", ans.Status, ans.Body)
	}
}

func TestMemoryIsText(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	fox := r.join("fox")
	for body, at := range map[string]int{
		"\xff": 0, "ab\x80": 2, "é\xc3": 2, "\xed\xa0\x80": 0, "\xc0\x80": 0, "🦊\xf4\x90\x80\x80": 4, "�\xfe": 3, strings.Repeat("a", memoryMost-1) + "\xc3": memoryMost - 1,
	} {
		ans := r.send(r.remember(fox, body))
		if ans.Status != 422 || !strings.Contains(ans.Text("error.message"), fmt.Sprintf("(byte %d)", at)) {
			t.Errorf("%.40q: got %d %s, want 422 that names byte %d", body, ans.Status, ans.Body, at)
		}
	}
	for _, body := range []string{"\x00", "\ufeff", "�", "\u202e\U000e0041", "\r\n\t\x1b[31m"} { // allowed, because nobody else reads it
		r.want(r.send(r.remember(fox, body)), 200, "")
		if got := r.recall(fox, memoryPath); got != body {
			t.Errorf("got the memory %q, want %q", got, body)
		}
	}
}

func TestMemoryModel(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	var agents int
	rapid.Check(t, func(rt *rapid.T) {
		agents++
		a := r.join(fmt.Sprintf("agent%d", agents))
		var now, was *string // nil: never written
		var last *transcripts.Request
		var lastStatus int
		tag := func(v *string) string {
			if v == nil {
				return ""
			}
			return tagOf(*v)
		}
		holds := func(v *string, path, etag string) {
			ans := r.call(a, "GET", path, "")
			text := ""
			if v != nil {
				text = *v
			}
			if ans.Status != 200 || string(ans.Body) != text || ans.Header.Get("ETag") != etag {
				rt.Fatalf("%s: got %d %q with ETag %s, want 200 %q with ETag %s", path, ans.Status, ans.Body, ans.Header.Get("ETag"), text, etag)
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if last != nil && rapid.IntRange(0, 4).Draw(rt, "again") == 0 {
				if ans := r.send(last); ans.Status != lastStatus || (ans.Status == 200) != (ans.Header.Get("Idempotent-Replayed") != "") {
					rt.Fatalf("sent again: got %d %s, want %d, and a replay if that is 200", ans.Status, ans.Body, lastStatus)
				}
				continue
			}
			text := rapid.SampledFrom([]string{"", "a", "b", "c", strings.Repeat("long ", 300)}).Draw(rt, "text")
			condition := rapid.SampledFrom([][2]string{
				{}, {"If-None-Match", "*"}, {"If-Match", "*"}, {"If-Match", tag(now)}, {"If-Match", tag(was)},
				{"If-Match", `"x", ` + tagOf("a")}, {"If-Match", "W/" + tagOf("a")}, {"If-None-Match", tagOf("b")}, {"If-None-Match", "W/" + tagOf("b")},
			}).Draw(rt, "condition")
			if condition[1] == "" {
				condition = [2]string{}
			}
			is := func(s string) bool { return now != nil && *now == s }
			passes := true
			switch condition {
			case [2]string{}:
			case [2]string{"If-None-Match", "*"}:
				passes = now == nil
			case [2]string{"If-Match", "*"}:
				passes = now != nil
			case [2]string{"If-Match", `"x", ` + tagOf("a")}:
				passes = is("a")
			case [2]string{"If-Match", "W/" + tagOf("a")}:
				passes = false
			case [2]string{"If-None-Match", tagOf("b")}, [2]string{"If-None-Match", "W/" + tagOf("b")}:
				passes = !is("b")
			default:
				passes = condition[1] == tag(now)
			}
			r.advance(time.Millisecond) // otherwise an equal text would be the same request
			last = r.remember(a, text)
			if condition[0] != "" {
				last.Header.Set(condition[0], condition[1])
			}
			ans := r.send(last)
			lastStatus = ans.Status
			if want := map[bool]int{true: 200, false: 412}[passes]; ans.Status != want {
				rt.Fatalf("writing %q with %v, when the ETag is %q: got %d %s, want %d", text, condition, tag(now), ans.Status, ans.Body, want)
			}
			if passes && !is(text) {
				now, was = &text, now
			}
			if got := ans.Header.Get("ETag"); got != tag(now) {
				rt.Fatalf("writing %q with %v: ETag: got %s, want %s", text, condition, got, tag(now))
			}
			holds(now, memoryPath, tag(now))
			holds(was, previousPath, tag(was))
		}
	})
}
