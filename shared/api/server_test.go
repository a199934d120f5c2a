package api

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/id"
)

const secret = "this must not be shown"

// fixture is a server with one endpoint of each kind, and one agent.
type fixture struct {
	*Server
	t     testing.TB
	log   bytes.Buffer
	table *embedded.Table
	now   time.Time
	agent string
	key   ed25519.PrivateKey
	ran   int // runs of the handler of POST /say
}

func build(t testing.TB, change func(*app.Settings)) *fixture {
	h := &fixture{t: t, now: time.UnixMilli(1_790_000_000_000)}
	clock := func() time.Time { return h.now }
	var err error
	if h.table, err = embedded.Open(embedded.Config{Path: embedded.Memory, Now: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.table.Close() })
	box, err := seal.New(bytes.Repeat([]byte("k"), 32))
	if err != nil {
		t.Fatal(err)
	}
	a := &app.App{
		Table: h.table, Now: clock, Rand: rand.Reader, Log: slog.New(slog.NewJSONHandler(&h.log, nil)),
		Settings: app.DefaultSettings(), Box: func(context.Context) (*seal.Box, error) { return box, nil },
	}
	a.Settings.BaseURL = "https://social.example"
	if change != nil {
		change(&a.Settings)
	}
	type in struct{}
	type write struct {
		Body struct {
			Text string `json:"text" maxLength:"40"`
		}
	}
	type out struct {
		Said string `json:"said"`
	}
	type said struct {
		ID    string
		first string
	}
	read := func(text string, err error) Handler[in, out] {
		return func(context.Context, *in) (*out, error) { return &out{text}, err }
	}
	h.Server = NewServer(a, Group{Name: "test", Endpoints: []Endpoint{
		On(Endpoint{Route: "GET /open", Cache: time.Minute}, read("open", nil)),
		On(Endpoint{Route: "GET /own", Auth: SigOrBearer("read")}, read("own", nil)),
		On(Endpoint{Route: "GET /keys", Auth: Sig}, read("keys", nil)),
		On(Endpoint{Route: "GET /units", Auth: SigOrBearer("read"), Cost: 3}, func(ctx context.Context, in *struct {
			N int64 `query:"n"`
		}) (*out, error) {
			tables.Spend(ctx, float64(in.N), 0)
			return &out{"units"}, nil
		}),
		On(Endpoint{Route: "GET /signup", Auth: SigOrBearer("read"), Signup: true}, read("signup", nil)),
		On(Endpoint{Route: "GET /broken"}, read("", errors.New(secret))),
		On(Endpoint{Route: "GET /conflict"}, read("", fmt.Errorf("%s: %w", secret, tables.ErrConflict))),
		On(Endpoint{Route: "GET /throttled"}, read("", fmt.Errorf("%s: %w", secret, tables.ErrThrottled))),
		On(Endpoint{Route: "GET /panic"}, func(context.Context, *in) (*out, error) { panic(secret) }),
		On(Endpoint{Route: "GET /nil"}, func(context.Context, *in) (*out, error) { var none []*out; return none[len(none)], nil }),
		OnWrite(Endpoint{Route: "POST /say", Auth: SigOrBearer("post"), Status: http.StatusCreated}, func(ctx context.Context, in *write) (*said, error) {
			c := From(ctx)
			if in.Body.Text == "" {
				return nil, BadField("text", "is empty")
			}
			h.ran++
			came := &said{"x", in.Body.Text}
			return came, c.Commit(ctx, came)
		}, func(_ context.Context, in *write, came *said) (*out, error) {
			if came.first == "" {
				return &out{in.Body.Text + " again " + came.ID}, nil
			}
			return &out{came.first}, nil
		}),
	}})
	seed := sha256.Sum256([]byte("fox"))
	h.key = ed25519.NewKeyFromSeed(seed[:])
	h.agent = id.Agent.New(h.now, rand.Reader)
	pub := auth.EncodeKey(h.key.Public().(ed25519.PublicKey))
	p := &tables.Profile{ID: h.agent, Handle: "fox", State: tables.StateActive, Epoch: 1, CreatedAt: h.now.UnixMilli()}
	k := &tables.AgentKey{Pub: pub, Original: true, Epoch: 1}
	h.commit(tables.Put(p.Item()), tables.Put(k.Item(h.agent)), tables.OriginalKeyClaim(pub, h.agent))
	return h
}

func (h *fixture) commit(w ...tables.Write) {
	h.t.Helper()
	if err := h.table.Commit(h.t.Context(), tables.Tx{Writes: w}); err != nil {
		h.t.Fatal(err)
	}
}

// profile sets an attribute of the agent's profile.
func (h *fixture) profile(attr string, v any) {
	h.commit(tables.Change(tables.ProfileKey(h.agent), tables.SetAttr(attr, v)))
}

func (h *fixture) token(scopes ...string) string {
	t := &tables.Token{ID: id.Token.New(h.now, rand.Reader), Epoch: 1, Scopes: tables.NewSet(scopes...)}
	value, hash, err := auth.MintToken(h.agent, t.ID, rand.Reader)
	if err != nil {
		h.t.Fatal(err)
	}
	t.Hash = hash
	h.commit(tables.Put(t.Item(h.agent)))
	return value
}

func (h *fixture) signed(method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	ts := h.now.UnixMilli()
	r.Header.Set(auth.HeaderKey, auth.EncodeKey(h.key.Public().(ed25519.PublicKey)))
	r.Header.Set(auth.HeaderTS, fmt.Sprint(ts))
	r.Header.Set(auth.HeaderSig, auth.Sign(h.key, method, target, ts, []byte(body)))
	return r
}

func (h *fixture) bearer(token, method, target, body string) *http.Request {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	return r
}

// answer serves a request and decodes a refusal.
func (h *fixture) answer(r *http.Request) (*httptest.ResponseRecorder, wire.ErrorDetails) {
	h.t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var e wire.ErrorEnvelope
	if w.Code >= 400 {
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			h.t.Fatalf("%s %s: got status %d without an error envelope: %s", r.Method, r.URL.Path, w.Code, w.Body)
		}
	}
	return w, e.Error
}

func (h *fixture) expect(r *http.Request, status int, code Code) (*httptest.ResponseRecorder, wire.ErrorDetails) {
	h.t.Helper()
	w, e := h.answer(r)
	if w.Code != status || Code(e.Code) != code {
		h.t.Errorf("%s %s: got %d %s, want %d %s", r.Method, r.URL.Path, w.Code, w.Body, status, code)
	}
	return w, e
}

func TestInnerErrors(t *testing.T) {
	h := build(t, nil)
	for path, want := range map[string]struct {
		status int
		code   Code
		logged string
	}{
		"/panic":     {500, Internal, secret},
		"/nil":       {500, Internal, "index out of range"},
		"/broken":    {500, Internal, secret},
		"/throttled": {503, Unavailable, secret},
		"/conflict":  {409, Busy, secret},
	} {
		h.log.Reset()
		r := httptest.NewRequest("GET", path, nil)
		r = r.WithContext(WithRaw(r.Context(), Raw{Path: path, RequestID: "req-4711"}))
		w, e := h.expect(r, want.status, want.code)
		if strings.Contains(w.Body.String(), secret) || strings.Contains(w.Body.String(), "out of range") {
			t.Errorf("%s: the answer shows the cause: %s", path, w.Body)
		}
		if e.Docs != "https://social.example/docs/errors#"+string(want.code) || e.Hint == "" {
			t.Errorf("%s: got %+v, want docs of %s and a hint", path, e, want.code)
		}
		if w.Header().Get("X-Request-Id") != "req-4711" {
			t.Errorf("%s: X-Request-Id = %q, want req-4711", path, w.Header().Get("X-Request-Id"))
		}
		if after := w.Header().Get("Retry-After"); (want.status == 503 || want.code == Busy) != (after != "") {
			t.Errorf("%s: Retry-After = %q, want it for 503 and busy only", path, after)
		}
		for line := range strings.Lines(h.log.String()) {
			if !strings.Contains(line, `"request_id":"req-4711"`) {
				t.Errorf("%s: log line lacks the request id: %s", path, line)
			}
		}
		if !strings.Contains(h.log.String(), want.logged) {
			t.Errorf("%s: the log lacks %q: %s", path, want.logged, h.log.String())
		}
	}
}

func TestAuthorize(t *testing.T) {
	h := build(t, nil)
	read, post := h.token("read"), h.token("post")
	h.expect(h.signed("GET", "/keys", ""), 200, "")
	h.expect(h.bearer(read, "GET", "/keys", ""), 403, SigRequired)
	h.expect(h.bearer(read, "GET", "/own", ""), 200, "")
	if _, e := h.expect(h.bearer(post, "GET", "/own", ""), 403, ScopeMissing); e.Scope != "read" {
		t.Errorf("GET /own with the scope post: refusal names scope %q, want read", e.Scope)
	}
	h.expect(h.bearer(read, "POST", "/say", `{"text":"a"}`), 403, ScopeMissing)
	h.expect(httptest.NewRequest("GET", "/own", nil), 401, Unauthenticated)

	// A token cannot be forged from its ids.
	parsed, err := auth.ParseToken(read)
	if err != nil {
		t.Fatal(err)
	}
	forged, _, err := auth.MintToken(parsed.Agent, parsed.ID, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	h.expect(h.bearer(forged, "GET", "/own", ""), 401, BadToken)
	h.expect(h.bearer(forged, "GET", "/open", ""), 401, BadToken)

	say := func() *http.Request { return h.signed("POST", "/say", `{"text":"before"}`) }
	h.expect(say(), 201, "")
	until := h.now.Add(time.Hour)
	h.profile("suspended_until", until.UnixMilli())
	if _, e := h.expect(h.signed("POST", "/say", `{"text":"after"}`), 403, Suspended); e.Until != until.UnixMilli() {
		t.Errorf("write of a suspended agent: until = %d, want %d", e.Until, until.UnixMilli())
	}
	h.expect(h.signed("GET", "/own", ""), 200, "")
	h.expect(h.bearer(post, "POST", "/say", `{"text":"after"}`), 403, Suspended)
	if w, _ := h.expect(say(), 201, ""); w.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("repeated write from before the suspension: Idempotent-Replayed = %q, want true", w.Header().Get("Idempotent-Replayed"))
	}
	h.now = until
	h.expect(h.signed("POST", "/say", `{"text":"after"}`), 201, "")

	h.profile("state", tables.StateSignup)
	h.expect(h.signed("GET", "/own", ""), 403, SignupRequired)
	h.expect(h.signed("GET", "/signup", ""), 200, "")
	h.expect(h.signed("GET", "/open", ""), 200, "")
	h.expect(h.signed("POST", "/say", `{"text":"x"}`), 403, SignupRequired)

	// A new epoch revokes all credentials.
	h.profile("state", tables.StateActive)
	h.profile("epoch", int64(2))
	h.expect(h.signed("GET", "/own", ""), 401, UnknownKey)
	h.expect(h.signed("GET", "/open", ""), 401, UnknownKey)
	h.expect(h.bearer(read, "GET", "/own", ""), 401, BadToken)
}

func TestAddedKey(t *testing.T) {
	h := build(t, nil)
	original := h.key
	_, h.key, _ = ed25519.GenerateKey(rand.Reader)
	h.expect(h.signed("GET", "/own", ""), 401, UnknownKey)
	k := &tables.AgentKey{Pub: auth.EncodeKey(h.key.Public().(ed25519.PublicKey)), Epoch: 1}
	h.commit(tables.Put(k.Item(h.agent)))
	h.expect(h.signed("GET", "/own", ""), 401, UnknownKey)
	r := h.signed("GET", "/own", "")
	r.Header.Set(auth.HeaderID, h.agent)
	h.expect(r, 200, "")
	r = h.signed("GET", "/own", "")
	r.Header.Set(auth.HeaderID, id.Agent.New(h.now, rand.Reader))
	h.expect(r, 401, UnknownKey)
	h.commit(tables.Delete(tables.AgentKeyKey(h.agent, k.Pub)))
	r = h.signed("GET", "/own", "")
	r.Header.Set(auth.HeaderID, h.agent)
	h.expect(r, 401, UnknownKey)
	h.key = original
	h.expect(h.signed("GET", "/own", ""), 200, "")
}

// The limit of 60 s is in the spec ("Authentication").
func TestSkew(t *testing.T) {
	h := build(t, nil)
	server := h.now
	for off, status := range map[time.Duration]int{-auth.Skew: 200, auth.Skew: 200, -auth.Skew - time.Millisecond: 401, auth.Skew + time.Millisecond: 401} {
		h.now = server.Add(off)
		q := h.signed("GET", "/own", "")
		h.now = server
		code := map[int]Code{401: BadTimestamp}[status]
		if _, e := h.expect(q, status, code); code != "" && !strings.Contains(e.Message, "60 s") {
			t.Errorf("timestamp off by %s: message = %q, want the limit of 60 s in it", off, e.Message)
		}
	}
}

// Accepted and refused writes count against the limit; repetitions do not.
func TestWritesOnce(t *testing.T) {
	h := build(t, func(s *app.Settings) { s.Limits.WritesPerMinute = 8 })
	h.now = h.now.Truncate(time.Minute)
	for i := range 5 {
		w, _ := h.expect(h.signed("POST", "/say", `{"text":"a"}`), 201, "")
		if want := map[bool]string{true: "a", false: "a again x"}[i == 0]; !strings.Contains(w.Body.String(), want) {
			t.Errorf("equal write %d: got %s, want %q in it", i, w.Body, want)
		}
	}
	if h.ran != 1 {
		t.Errorf("5 equal writes: the handler ran %d times, want 1", h.ran)
	}
	for range 5 {
		h.expect(h.signed("POST", "/say", `{"text":""}`), 422, Invalid)
	}
	h.now = h.now.Add(time.Millisecond)
	h.expect(h.signed("POST", "/say", `{"text":"b"}`), 201, "")
	if w, _ := h.expect(h.signed("POST", "/say", `{"text":"c"}`), 201, ""); !strings.Contains(w.Header().Get("RateLimit"), "r=0;") {
		t.Errorf("last write within the limit: RateLimit = %s, want r=0", w.Header().Get("RateLimit"))
	}
	w, e := h.expect(h.signed("POST", "/say", `{"text":"d"}`), 429, RateLimited)
	if after, err := strconv.Atoi(w.Header().Get("Retry-After")); err != nil || after < 60 || after > 66 || e.RetryAt != h.now.Truncate(time.Minute).Add(time.Minute).UnixMilli() {
		t.Errorf("over the write limit: got Retry-After %s, retry_at %d; want 60 to 66, and the next minute", w.Header().Get("Retry-After"), e.RetryAt)
	}
	h.expect(h.signed("POST", "/say", `{"text":"c"}`), 201, "") // repeated
	h.now = h.now.Add(time.Minute)
	h.expect(h.signed("POST", "/say", `{"text":"d"}`), 201, "")
}

func TestReadLimit(t *testing.T) {
	for name, request := range map[string]func(*fixture) *http.Request{
		"an agent": func(h *fixture) *http.Request { return h.signed("GET", "/own", "") },
		"an address": func(h *fixture) *http.Request {
			r := httptest.NewRequest("GET", "/open", nil)
			return r.WithContext(WithRaw(r.Context(), Raw{Path: "/open", Address: "203.0.113.7"}))
		},
		"refused writes": func(h *fixture) *http.Request { return h.signed("POST", "/say", `{"text":""}`) },
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, func(s *app.Settings) { s.MaxReads = 100 })
			n := 0
			for ; n < 3000; n++ {
				if w, e := h.answer(request(h)); w.Code == 429 {
					if Code(e.Code) != RateLimited || w.Header().Get("Retry-After") == "" {
						t.Errorf("over the limit: got %+v, Retry-After %q; want rate_limited with Retry-After", e, w.Header().Get("Retry-After"))
					}
					break
				}
			}
			if n < 6 || n == 3000 { // each counted read counts at least 16
				t.Errorf("refused after %d requests, want 6 to 2999", n)
			}
			for range 20 { // not only sampled reads are refused
				if w, _ := h.answer(request(h)); w.Code != 429 {
					t.Errorf("over the limit: got status %d, want 429", w.Code)
				}
			}
			h.now = h.now.Add(time.Minute)
			if w, _ := h.answer(request(h)); w.Code == 429 {
				t.Errorf("a minute later: got status %d, want any but 429", w.Code)
			}
			other := httptest.NewRequest("GET", "/open", nil)
			h.expect(other.WithContext(WithRaw(other.Context(), Raw{Path: "/open", Address: "198.51.100.1"})), 200, "")
		})
	}
}

// readSample reads of weight w add up to w*readSample.
func TestReadWeights(t *testing.T) {
	h := build(t, func(s *app.Settings) { s.MaxReads = 1 << 20 })
	h.app.Rand = &turns{}
	window := h.now.Truncate(time.Minute)
	for _, c := range []struct {
		target string
		weight int64
	}{{"/own", 1}, {"/units", 3}, {"/units?n=60", 3}, {"/units?n=100", 5}, {"/units?n=310", 15}, {"/units?n=320", 16}, {"/units?n=600", 30}} {
		key := tables.QuotaKey(h.agent, "reads", window)
		counted := func() int64 {
			items, err := h.table.Get(t.Context(), tables.Strong, key)
			if err != nil {
				t.Fatal(err)
			}
			if items[0] == nil {
				return 0
			}
			return items[0].Int("n")
		}
		before := counted()
		for range readSample {
			last := counted()
			h.expect(h.signed("GET", c.target, ""), 200, "")
			if n := counted() - last; n != 0 && n != max(c.weight, readSample) {
				t.Errorf("one request of %s counts %d, want 0 or %d", c.target, n, max(c.weight, readSample))
			}
		}
		if n := counted() - before; n != c.weight*readSample {
			t.Errorf("%d requests of %s count %d, want %d", readSample, c.target, n, c.weight*readSample)
		}
	}
}

// turns fills reads of one byte with 0 to 255 in turn, and longer reads with zeros.
type turns struct{ next byte }

func (r *turns) Read(b []byte) (int, error) {
	clear(b)
	if len(b) == 1 {
		b[0] = r.next
		r.next++
	}
	return len(b), nil
}

// With a margin of two standard deviations instead of three, callers would be refused in
// about twice as many minutes as this test allows.
func TestReadLimit_SamplingError(t *testing.T) {
	const most, minutes = 100, 400
	for _, c := range []struct {
		weight  int
		request func(*fixture) *http.Request
	}{
		{1, func(*fixture) *http.Request {
			r := httptest.NewRequest("GET", "/open", nil)
			return r.WithContext(WithRaw(r.Context(), Raw{Path: "/open", Address: "203.0.113.7"}))
		}},
		{10, func(h *fixture) *http.Request { return h.signed("GET", "/units?n=200", "") }},
	} {
		h := build(t, func(s *app.Settings) { s.MaxReads = most })
		h.app.Rand = mathrand.NewChaCha8([32]byte{1})
		refused := 0
		for range minutes {
			for range most / c.weight {
				if w, _ := h.answer(c.request(h)); w.Code == 429 {
					refused++
					break
				}
			}
			h.now = h.now.Add(time.Minute)
		}
		if refused > minutes/100 {
			t.Errorf("reads of weight %d up to the limit: refused in %d of %d minutes, want at most %d", c.weight, refused, minutes, minutes/100)
		}
	}
}

func TestTheLogHoldsNoSecrets(t *testing.T) {
	h := build(t, nil)
	read := h.token("read")
	requests := []*http.Request{
		h.signed("POST", "/say", `{"text":"private words"}`), h.signed("POST", "/say", `{"text":"private words","password":"hunter22"}`),
		h.signed("POST", "/say", `{"text":"private words`), h.signed("GET", "/own?token=hunter22", ""),
		h.bearer(read, "GET", "/own", ""), h.bearer(read[:len(read)-2]+"zz", "GET", "/own", ""), h.bearer(read, "POST", "/say", `{"text":"private words"}`),
		h.bearer("hunter22", "GET", "/own", ""), h.signed("GET", "/panic", ""), h.signed("GET", "/hunter22", ""),
	}
	tampered := h.signed("POST", "/say", `{"text":"private words"}`)
	tampered.Header.Set(auth.HeaderTS, "1")
	var secrets []string
	for _, r := range append(requests, tampered) {
		secrets = append(secrets, r.Header.Get(auth.HeaderSig), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		r = r.WithContext(WithRaw(r.Context(), Raw{Path: r.URL.Path, Query: r.URL.RawQuery, Address: "203.0.113.7"}))
		h.answer(r)
	}
	if !strings.Contains(h.log.String(), h.agent) {
		t.Errorf("the log does not name the agent: %s", h.log.String())
	}
	for _, s := range append(secrets, "private words", "hunter22", "203.0.113.7") {
		if s != "" && strings.Contains(h.log.String(), s) {
			t.Errorf("the log contains %q", s)
		}
	}
	if n := strings.Count(h.log.String(), `"msg":"request"`); n != len(requests)+1 {
		t.Errorf("log: got %d request lines, want %d", n, len(requests)+1)
	}
}

// The table would throttle the count too.
func TestThrottledRequestsAreNotCounted(t *testing.T) {
	h := build(t, func(s *app.Settings) { s.MaxReads = 1000 })
	commits := 0
	h.table.SetFaults(func(kind string, _ []tables.Key) embedded.Fault {
		if kind == embedded.KindCommit {
			commits++
		}
		return embedded.None
	})
	for path, counted := range map[string]bool{"/throttled": false, "/conflict": true} {
		commits = 0
		for i := range 300 {
			r := httptest.NewRequest("GET", path, nil)
			h.answer(r.WithContext(WithRaw(r.Context(), Raw{Path: path, Address: fmt.Sprintf("203.0.113.%d", i%200)})))
		}
		if (commits > 0) != counted {
			t.Errorf("%s: counted = %v, want %v", path, commits > 0, counted)
		}
	}
}

// A random part keeps callers from coming back together.
func TestRetryAfter(t *testing.T) {
	h := build(t, nil)
	for name, c := range map[string]struct {
		refusal     *Error
		least, most int
	}{
		"busy":           {Fail(Busy, "x"), 1, 3},
		"unavailable":    {Fail(Unavailable, "x"), 2, 4},
		"too soon":       {Fail(TooSoon, "x"), 2, 4},
		"a moment":       {Fail(RateLimited, "x").At(h.now.Add(time.Millisecond)), 1, 3},
		"a minute":       {Fail(RateLimited, "x").At(h.now.Add(time.Minute)), 60, 66},
		"an hour":        {Fail(RateLimited, "x").At(h.now.Add(time.Hour)), 3600, 3630},
		"limit reached":  {Fail(LimitReached, "x").At(h.now.Add(10 * time.Second)), 10, 12},
		"in the past":    {Fail(RateLimited, "x").At(h.now.Add(-time.Second)), 1, 3},
		"no wait at all": {Fail(NotFound, "x"), 0, 0},
	} {
		seen := map[int64]bool{}
		for range 500 {
			seen[h.Server.retryAfter(c.refusal, c.refusal.Status())] = true
		}
		for after := range seen {
			if after < int64(c.least) || after > int64(c.most) {
				t.Errorf("%s: retryAfter = %d, want %d to %d", name, after, c.least, c.most)
			}
		}
		if n := c.most - c.least + 1; len(seen) != n {
			t.Errorf("%s: got %d different values of retryAfter in 500 calls, want %d", name, len(seen), n)
		}
	}
}

func TestStart_RepeatedUntilItSucceeds(t *testing.T) {
	h := build(t, nil)
	tries := 0
	h.start = append(h.start, func(context.Context) error {
		if tries++; tries < 3 {
			return tables.ErrThrottled
		}
		return nil
	})
	for range 2 {
		h.expect(httptest.NewRequest("GET", "/open", nil), 503, Unavailable)
	}
	for range 2 {
		h.expect(httptest.NewRequest("GET", "/open", nil), 200, "")
	}
	if tries != 3 {
		t.Errorf("Start ran %d times, want 3", tries)
	}
}

func FuzzSignatureHeaders(f *testing.F) {
	h := build(f, func(s *app.Settings) { s.MaxReads = 1 << 40 })
	pub := auth.EncodeKey(h.key.Public().(ed25519.PublicKey))
	ts := fmt.Sprint(h.now.UnixMilli())
	sig := h.signed("GET", "/own", "").Header.Get(auth.HeaderSig)
	body := `{"text":"a"}`
	f.Add(pub, ts, sig, "", "", "GET", "/own", "", "")
	f.Add(pub, ts, sig, h.agent, "", "GET", "/own", "", "")
	f.Add(pub, ts, h.signed("POST", "/say", body).Header.Get(auth.HeaderSig), "", "", "POST", "/say", "", body)
	f.Add(pub, ts, h.signed("GET", "/own?aud=social.example", "").Header.Get(auth.HeaderSig), "", "", "GET", "/own", "aud=social.example", "")
	f.Add(pub, "+"+ts, sig, "", "Bearer x", "GET", "/own", "", "")
	f.Add(pub+"=", ts, sig+"\n", "ag_", "", "GET", "/own", "%", "")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", ts, strings.Repeat("A", 86), h.agent, "", "GET", "/own", "", "")
	f.Add("", "", "", "", "Bearer "+h.token("read", "post"), "POST", "/say", "", body)
	f.Fuzz(func(t *testing.T, key, ts, sig, agent, authorization, method, path, query, body string) {
		if !strings.HasPrefix(path, "/") || method == "" {
			return
		}
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL.Path, r.URL.RawQuery = method, path, query
		for name, v := range map[string]string{auth.HeaderKey: key, auth.HeaderTS: ts, auth.HeaderSig: sig, auth.HeaderID: agent, "Authorization": authorization} {
			if v != "" {
				r.Header.Set(name, v)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		h.log.Reset()
		if w.Code >= 500 && path != "/panic" && path != "/nil" && path != "/broken" && path != "/throttled" {
			t.Fatalf("%s %s: got %d %s, want a status below 500", method, path, w.Code, w.Body)
		}
		if w.Code >= 300 || path != "/own" && path != "/say" && path != "/keys" && path != "/signup" || authorization != "" {
			return
		}
		target := path
		if query != "" {
			target += "?" + query
		}
		sum := sha256.Sum256([]byte(body))
		decoded, err := auth.DecodeBody(sig)
		if key != pub || agent != "" && agent != h.agent || err != nil || strings.HasSuffix(sig, "=") ||
			!ed25519.Verify(h.key.Public().(ed25519.PublicKey), fmt.Appendf(nil, "%s\n%s\n%s\n%x", method, target, ts, sum), decoded) {
			t.Fatalf("%s %s with key %q, ts %q, sig %q, agent %q was accepted: %s", method, target, key, ts, sig, agent, w.Body)
		}
	})
}
