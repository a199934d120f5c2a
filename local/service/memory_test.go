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

// remember is a request that writes an agent's memory, under preconditions:
// name, value.
func (r *running) remember(a *transcripts.Agent, text string, preconditions ...string) *transcripts.Request {
	q := r.request(a, "PUT", memoryPath, text)
	for i := 0; i < len(preconditions); i += 2 {
		q.Header.Set(preconditions[i], preconditions[i+1])
	}
	return q
}

// recall reads a version of an agent's memory and holds that it is whole: that
// its ETag and its size are its own.
func (r *running) recall(a *transcripts.Agent, path string) string {
	r.t.Helper()
	ans := r.call(a, "GET", path, "")
	if ans.Status != 200 {
		r.t.Errorf("GET %s: %d %.300s", path, ans.Status, ans.Body)
		return ""
	}
	if etag := ans.Header.Get("ETag"); etag != tagOf(string(ans.Body)) && !(etag == "" && len(ans.Body) == 0) {
		r.t.Errorf("GET %s: %.60q… has the ETag %s", path, ans.Body, etag)
	}
	if size := ans.Header.Get("X-Memory-Size"); size != fmt.Sprint(len(ans.Body)) {
		r.t.Errorf("GET %s: %d bytes are said to be %s", path, len(ans.Body), size)
	}
	return string(ans.Body)
}

func tagOf(text string) string { return fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(text))) }

// Of two sessions that replace the same version exactly one does; the other is
// told what is there now.
func TestRaceForMemory(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
				t.Fatalf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
			}
			winner := 0
			if answers[1].Status == 200 {
				winner = 1
			}
			if got := answers[1-winner].Header.Get("ETag"); got != tagOf(texts[winner]) && got != tagOf(before) {
				t.Fatalf("round %d: the loser is told of %s", i, got)
			}
			if now, was := r.recall(fox, memoryPath), r.recall(fox, previousPath); now != texts[winner] || was != before {
				t.Fatalf("round %d: it is %q, and was %q", i, now, was)
			}
		}
	})
}

// Sessions that name no version are not refused for having met: the last one
// wins, and what it replaced is the other's. Whoever reads meanwhile gets one
// text, whole.
func TestMemoryWithoutPreconditions(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
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
				t.Errorf("round %d: %v: %s, %s", i, n, answers[0].Body, answers[1].Body)
				break
			}
			now, was := r.recall(fox, memoryPath), r.recall(fox, previousPath)
			if !(now == texts[0] && was == texts[1] || now == texts[1] && was == texts[0]) {
				t.Errorf("round %d: it is %.40q…, and was %.40q…", i, now, was)
				break
			}
		}
		over.Store(true)
		readers.Wait()
		t.Logf("read %d times meanwhile", reads.Load())
	})
}

// text is random ASCII, control characters and NUL included: what compresses
// least of what is valid UTF-8. Another one for each n.
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
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		wide := make([]rune, memoryMost/4)
		for i := range wide {
			wide[i] = rune(0x10000 + rand.IntN(0x100000))
		}
		before := ""
		for _, fits := range []string{text(1, memoryMost), string(wide), strings.Repeat("\x00", memoryMost), text(2, memoryMost)} {
			if ans := r.send(r.remember(fox, fits)); ans.Status != 200 || ans.Text("size") != fmt.Sprint(memoryMost) || ans.Header.Get("ETag") != tagOf(fits) {
				t.Fatalf("%d %s", ans.Status, ans.Body)
			}
			if r.recall(fox, memoryPath) != fits || r.recall(fox, previousPath) != before {
				t.Fatal("it does not come back as it was sent")
			}
			before = fits
		}
		if ans := r.send(r.remember(fox, text(3, memoryMost+1))); ans.Status != 413 || ans.Text("error.code") != "too_large" {
			t.Errorf("%d %s", ans.Status, ans.Body)
		}
		for n, status := range map[int]int{memoryMost: 200, memoryMost + 1: 413} { // of a length that is not told
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
			if req.ContentLength != 0 || res.StatusCode != status { // which means unknown, with a body
				t.Errorf("%d bytes in chunks: %d", n, res.StatusCode)
			}
		}
		http.DefaultClient.CloseIdleConnections() // which stopping would wait for
		if now := r.recall(fox, memoryPath); now != text(memoryMost, memoryMost) {
			t.Error("what was too large changed something")
		}
	})
}

// overtaker does something before a slot is read, so many times.
type overtaker struct {
	tables.Backend
	times atomic.Int64
	do    func()
}

func (m *overtaker) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if strings.HasPrefix(keys[0].SK, "MEMORY#") && m.times.Add(-1) >= 0 {
		m.do()
	}
	return m.Backend.Get(ctx, c, keys...)
}

// A reader who has read the head when both slots are written again notices,
// and answers what is there now; if that goes on, it gives up.
func TestMemoryWrittenWhileRead(t *testing.T) {
	t.Parallel()
	m := &overtaker{}
	r := run(t, service.Config{Settings: generous(), Wrap: func(b tables.Backend) tables.Backend {
		m.Backend = b
		return m
	}})
	fox := r.join("fox")
	n := 0
	m.do = func() {
		for range 2 {
			n++
			if ans := r.send(r.remember(fox, text(n, 100))); ans.Status != 200 {
				t.Errorf("%d %s", ans.Status, ans.Body)
			}
		}
	}
	m.do()
	for times := range int64(5) {
		m.times.Store(times)
		if got := r.recall(fox, memoryPath); got != text(n, 100) {
			t.Errorf("overtaken %d times, it reads %q", times, got)
		}
		m.times.Store(times)
		if got := r.recall(fox, previousPath); got != text(n-1, 100) {
			t.Errorf("overtaken %d times, it reads %q of the previous version", times, got)
		}
	}
	m.times.Store(1 << 40)
	if ans := r.call(fox, "GET", memoryPath, ""); ans.Status != 409 || ans.Text("error.code") != "busy" {
		t.Errorf("overtaken for ever: %d %s", ans.Status, ans.Body)
	}
}

// What is not UTF-8 is refused, with the place where it begins.
func TestMemoryIsText(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	for body, at := range map[string]int{
		"\xff": 0, "ab\x80": 2, "é\xc3": 2, "\xed\xa0\x80": 0, "\xc0\x80": 0, "🦊\xf4\x90\x80\x80": 4, "�\xfe": 3, strings.Repeat("a", memoryMost-1) + "\xc3": memoryMost - 1,
	} {
		ans := r.send(r.remember(fox, body))
		if ans.Status != 422 || !strings.Contains(ans.Text("error.message"), fmt.Sprintf("(byte %d)", at)) {
			t.Errorf("%.40q: %d %s", body, ans.Status, ans.Body)
		}
	}
	for _, body := range []string{"\x00", "\ufeff", "�", "\u202e\U000e0041", "\r\n\t\x1b[31m"} { // private: nobody else is misled
		if ans := r.send(r.remember(fox, body)); ans.Status != 200 || r.recall(fox, memoryPath) != body {
			t.Errorf("%q: %d %s", body, ans.Status, ans.Body)
		}
	}
}

// Whatever one session does, the memory is what a pair of variables would be.
func TestMemoryModel(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
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
		holds := func(v *string, want, etag string) {
			ans := r.call(a, "GET", want, "")
			text := ""
			if v != nil {
				text = *v
			}
			if ans.Status != 200 || string(ans.Body) != text || ans.Header.Get("ETag") != etag {
				rt.Fatalf("%s is %d %q %s, not %q", want, ans.Status, ans.Body, ans.Header.Get("ETag"), text)
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			if last != nil && rapid.IntRange(0, 4).Draw(rt, "again") == 0 {
				if ans := r.send(last); ans.Status != lastStatus || (ans.Status == 200) != (ans.Header.Get("Idempotent-Replayed") != "") {
					rt.Fatalf("sent again: %d, then %d %s", lastStatus, ans.Status, ans.Body)
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
			r.advance(time.Millisecond) // or the same text twice would be the same request
			last = r.remember(a, text)
			if condition[0] != "" {
				last.Header.Set(condition[0], condition[1])
			}
			ans := r.send(last)
			lastStatus = ans.Status
			if want := map[bool]int{true: 200, false: 412}[passes]; ans.Status != want {
				rt.Fatalf("%q %v over %q: %d %s", text, condition, tag(now), ans.Status, ans.Body)
			}
			if passes && !is(text) {
				now, was = &text, now
			}
			if got := ans.Header.Get("ETag"); got != tag(now) {
				rt.Fatalf("%q %v: the answer's ETag is %s, not %s", text, condition, got, tag(now))
			}
			holds(now, memoryPath, tag(now))
			holds(was, previousPath, tag(was))
		}
	})
}
