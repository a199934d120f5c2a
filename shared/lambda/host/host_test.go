package host

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

var now = time.UnixMilli(1_790_000_000_000)

func quiet() *app.App {
	a := &app.App{
		Now: func() time.Time { return now }, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler), Settings: app.DefaultSettings(),
	}
	a.Settings.BaseURL = "https://social.example"
	return a
}

type echoIn struct {
	A    string `query:"a"`
	B    string `query:"b"`
	Note string `header:"x-note"`
}

type echoOut struct {
	A       string `json:"a"`
	B       string `json:"b"`
	Note    string `json:"note"`
	Address string `json:"address"`
	Left    string `json:"left"`
}

type sayIn struct {
	Body struct {
		Text string `json:"text"`
	}
}

type bytesIn struct {
	RawBody []byte `contentType:"text/markdown"`
}

type sayOut struct {
	Text string `json:"text"`
}

// echo returns a handler that answers with the request it got, signed or not.
func echo() GatewayHandler { return echoOf(quiet()) }

func echoOf(a *app.App) GatewayHandler {
	say := func(ctx context.Context, in *echoIn) (*echoOut, error) {
		out := &echoOut{A: in.A, B: in.B, Note: in.Note, Address: api.From(ctx).Address}
		if end, ok := ctx.Deadline(); ok {
			out.Left = time.Until(end).Round(100 * time.Millisecond).String()
		}
		return out, nil
	}
	return Gateway(api.NewServer(a, api.Group{Name: "test", Endpoints: []api.Endpoint{
		api.On(api.Endpoint{Route: "GET /v1/open"}, say),
		api.On(api.Endpoint{Route: "GET /v1/signed", Auth: api.Sig}, say),
		api.On(api.Endpoint{Route: "POST /v1/say", Pure: true}, func(_ context.Context, in *sayIn) (*sayOut, error) {
			return &sayOut{in.Body.Text}, nil
		}),
		api.On(api.Endpoint{
			Route: "PUT /v1/bytes", Pure: true, Auth: api.Sig, Body: 256,
			Foreign: api.Foreign{Media: []string{"text/markdown", "application/octet-stream"}, Empty: true},
		}, func(_ context.Context, in *bytesIn) (*sayOut, error) {
			return &sayOut{fmt.Sprintf("%x", in.RawBody)}, nil
		}),
	}}))
}

func event(method, path, query string) events.APIGatewayV2HTTPRequest {
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RawPath: path, RawQueryString: query, Headers: map[string]string{"host": "social.example"},
	}
	e.RequestContext.RequestID, e.RequestContext.DomainName = "request-7", "social.example"
	e.RequestContext.HTTP.Method, e.RequestContext.HTTP.Path, e.RequestContext.HTTP.SourceIP = method, path, "203.0.113.9"
	return e
}

type answer struct {
	echoOut
	Text  string `json:"text"`
	Error struct{ Code, Message, Hint, Docs string }
}

func call(t *testing.T, h GatewayHandler, e events.APIGatewayV2HTTPRequest) (int, answer) {
	t.Helper()
	res, err := h(t.Context(), e)
	if err != nil {
		t.Fatalf("%s %q: got error %v, want an answer", e.RequestContext.HTTP.Method, e.RawPath, err)
	}
	body := []byte(res.Body)
	if res.IsBase64Encoded {
		if body, err = base64.StdEncoding.DecodeString(res.Body); err != nil {
			t.Fatal(err)
		}
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		t.Fatalf("%s %q: got %d %s, want JSON: %v", e.RequestContext.HTTP.Method, e.RawPath, res.StatusCode, body, err)
	}
	if id := res.Headers["X-Request-Id"] + res.Headers["x-request-id"]; id != "request-7" {
		t.Errorf("%s %q: X-Request-Id = %q, want request-7", e.RequestContext.HTTP.Method, e.RawPath, id)
	}
	return res.StatusCode, a
}

func TestGateway_Compresses(t *testing.T) {
	h := echo()
	e := event("GET", "/v1/open", "a="+strings.Repeat("a", 2000))
	plain, err := h(t.Context(), e)
	if err != nil || plain.IsBase64Encoded || len(plain.Body) < 2000 {
		t.Fatalf("plain: got %+v, %v; want at least 2000 bytes, not in base64", plain, err)
	}
	e.Headers["accept-encoding"] = "gzip, deflate"
	small, err := h(t.Context(), e)
	if err != nil || !small.IsBase64Encoded || small.MultiValueHeaders["Content-Encoding"] == nil && small.Headers["Content-Encoding"] != "gzip" {
		t.Fatalf("compressed: got %+v, %v; want gzip in base64", small, err)
	}
	raw, err := base64.StdEncoding.DecodeString(small.Body)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(z); err != nil || string(body) != plain.Body || len(raw) > 300 {
		t.Errorf("decompressed: got %.80q from %d bytes, %v; want %.80q from at most 300", body, len(raw), err, plain.Body)
	}
}

func sign(e *events.APIGatewayV2HTTPRequest, method, pathAndQuery, body string) {
	seed := sha256.Sum256([]byte("key"))
	key := ed25519.NewKeyFromSeed(seed[:])
	e.Headers[strings.ToLower(auth.HeaderKey)] = auth.EncodeKey(key.Public().(ed25519.PublicKey))
	e.Headers[strings.ToLower(auth.HeaderTS)] = fmt.Sprint(now.UnixMilli())
	e.Headers[strings.ToLower(auth.HeaderSig)] = auth.Sign(key, method, pathAndQuery, now.UnixMilli(), []byte(body))
}

func TestGatewayVerifiesRawPathAndQuery(t *testing.T) {
	h := echo()
	for _, query := range []string{"", "b=2&a=1", "a=%7e&b=%7E", "b=+%20&a=x,y", "a=%C3%A9"} {
		e := event("GET", "/v1/signed", query)
		target := strings.TrimSuffix("/v1/signed?"+query, "?")
		sign(&e, "GET", target, "")
		// The gateway decodes and sorts these parameters, and joins duplicates.
		e.QueryStringParameters = map[string]string{"a": "decoded", "b": "sorted"}
		if status, a := call(t, h, e); status != 200 || a.A == "decoded" || query == "b=+%20&a=x,y" && (a.A != "x,y" || a.B != "  ") {
			t.Errorf("GET %s: got %d %+v, want 200 and the query as sent", target, status, a)
		}
		sign(&e, "GET", target+"x", "")
		if status, a := call(t, h, e); status != 401 || a.Error.Code != "bad_signature" {
			t.Errorf("GET %s with another target's signature: got %d %+v, want 401 bad_signature", target, status, a)
		}
	}
}

func TestGatewayKeepsHeadersWhole(t *testing.T) {
	for _, note := range []string{"a,b", "a, b", " lead,,", "one", `W/"1", "2"`} {
		e := event("GET", "/v1/open", "")
		e.Headers["x-note"] = note
		if status, a := call(t, echo(), e); status != 200 || strings.TrimSpace(a.Note) != strings.TrimSpace(note) {
			t.Errorf("X-Note %q: got %d %q, want 200 and the header unchanged", note, status, a.Note)
		}
	}
	e := event("GET", "/v1/open", "")
	e.Headers["x-forwarded-for"] = "198.51.100.1"
	if _, a := call(t, echo(), e); a.Address != "203.0.113.9" {
		t.Errorf("with X-Forwarded-For: address = %q, want the connection's", a.Address)
	}
}

// The edge replaces the host, which signatures do not cover.
func TestGateway_BehindTheEdge(t *testing.T) {
	a := quiet()
	a.Edge = func(_ context.Context, sent string) (bool, error) { return sent == "right", nil }
	e := event("GET", "/v1/signed", "b=2&a=1")
	sign(&e, "GET", "/v1/signed?b=2&a=1", "")
	e.Headers["host"] = "abc.execute-api.eu-central-1.amazonaws.com"
	e.Headers["x-origin-secret"], e.Headers["x-viewer-address"] = "right", "198.51.100.7"
	if status, got := call(t, echoOf(a), e); status != 200 || got.A != "1" || got.Address != "198.51.100.7" {
		t.Errorf("through the edge: got %d %+v, want 200 and the viewer's address", status, got)
	}
	if status, got := call(t, echo(), e); status != 200 || got.Address != "203.0.113.9" {
		t.Errorf("without an edge: got %d %+v, want 200 and the connection's address", status, got)
	}
	for _, sent := range []string{"wrong", ""} {
		e.Headers["x-origin-secret"] = sent
		if status, got := call(t, echoOf(a), e); status != 403 || got.Error.Code != "edge_required" || got.Error.Docs != "https://social.example/docs/errors#edge_required" {
			t.Errorf("with the secret %q: got %d %+v, want 403 edge_required", sent, status, got)
		}
	}
}

// If the function failed, the gateway would answer with its own 500.
func TestGatewayAnswersOddPaths(t *testing.T) {
	h := echo()
	for _, path := range []string{
		"/a b", "/%", "/%zz", "/é", "", "//", "/", "/v1//open", "/v1/open/", "/v1/./open", "/v1/x/../open", "//v1/open",
		"/v1/open?", "/v1/open#", "/v1/open\x00", "/v1/open\n", "/v1/op\xffen", "/v1\\open", "https://other.example/v1/open", "@other/v1/open", ":1/v1/open",
	} {
		for _, method := range []string{"GET", "POST"} {
			status, a := call(t, h, event(method, path, ""))
			if status != 404 || a.Error.Code != "no_such_endpoint" || a.Error.Message == "" || a.Error.Hint == "" ||
				a.Error.Docs != "https://social.example/docs/errors#no_such_endpoint" {
				t.Errorf("%s %q: got %d %+v, want 404 no_such_endpoint", method, path, status, a)
			}
		}
	}
	for _, query := range []string{"a=é", "a=b c", "a=\n", "a=\x00", "a=%zz", "a=1;b=2"} {
		if status, a := call(t, h, event("GET", "/v1/open", query)); status != 422 || a.Error.Code != "invalid" {
			t.Errorf("query %q: got %d %+v, want 422 invalid", query, status, a)
		}
	}
}

func TestGatewayDecodesBodies(t *testing.T) {
	const body = `{"text":"a,b é 🦊"}`
	plain := event("POST", "/v1/say", "")
	plain.Headers["content-type"] = "application/json"
	plain.Body = body
	coded := plain
	coded.Body, coded.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	for _, e := range []events.APIGatewayV2HTTPRequest{plain, coded} {
		if status, a := call(t, echo(), e); status != 200 || a.Text != "a,b é 🦊" {
			t.Errorf("body %s: got %d %+v, want 200 and the text", e.Body, status, a)
		}
	}
	coded.Body = base64.StdEncoding.EncodeToString([]byte("{\"text\":\"\xff\"}"))
	if status, _ := call(t, echo(), coded); status != 400 && status != 422 {
		t.Errorf("invalid UTF-8: got status %d, want 400 or 422", status)
	}
	signed := plain
	signed.Body, signed.IsBase64Encoded = base64.StdEncoding.EncodeToString([]byte(body)), true
	sign(&signed, "POST", "/v1/say", body)
	if status, a := call(t, echo(), signed); status != 200 || a.Text != "a,b é 🦊" {
		t.Errorf("signed body: got %d %+v, want 200 and the text", status, a)
	}
	sign(&signed, "POST", "/v1/say", signed.Body)
	if status, _ := call(t, echo(), signed); status != 401 {
		t.Errorf("signature over base64: got status %d, want 401", status)
	}
}

// The gateway sends text and JSON as they are, and other content types in base64.
func TestGatewayDecodesBytes(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, c := range []struct {
		contentType, body string
		coded             bool
		status            int
	}{
		{"text/markdown", "# é 🦊\x00\r\n", false, 200},
		{"text/markdown; charset=utf-8", "", false, 200},
		{"application/octet-stream", "# é 🦊\x00\r\n", true, 200},
		{"application/octet-stream", string(every), true, 200},
		{"application/octet-stream", string(every) + "x", true, 413},
		{"application/octet-stream", "", true, 200},
		{"application/x-www-form-urlencoded", "a=b&c=%20+", true, 200}, // curl's default
		{"", "no type", true, 200},
		{"image/png", "x", true, 415},
	} {
		e := event("PUT", "/v1/bytes", "")
		if e.Headers["content-type"] = c.contentType; c.contentType == "" {
			delete(e.Headers, "content-type")
		}
		if e.Body, e.IsBase64Encoded = c.body, c.coded; c.coded {
			e.Body = base64.StdEncoding.EncodeToString([]byte(c.body))
		}
		sign(&e, "PUT", "/v1/bytes", c.body)
		status, a := call(t, echo(), e)
		if status != c.status || status == 200 && a.Text != fmt.Sprintf("%x", c.body) {
			t.Errorf("%s %.20q: got %d %+v, want %d, and the same bytes if 200", c.contentType, c.body, status, a, c.status)
		}
	}
}

func TestWorkEndsBeforeTimeout(t *testing.T) { synctest.Test(t, testWorkEndsBeforeTimeout) }

func testWorkEndsBeforeTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := echo()(ctx, event("GET", "/v1/open", ""))
	if err != nil || !strings.Contains(res.Body, `"left":"9.5s"`) {
		t.Errorf("handler of a call with 10 s: got %s, %v, want 9.5 s left", res.Body, err)
	}
}

// poison returns a reader that fails if its batch has the record seq, and otherwise adds the
// batch to done.
func poison(seq string, done *[]tables.StreamRecord) stream.Function {
	return stream.Function{Name: "test", Handle: func(_ context.Context, records []tables.StreamRecord) error {
		if slices.ContainsFunc(records, func(r tables.StreamRecord) bool { return r.Seq == seq }) {
			return errors.New("poison")
		}
		*done = append(*done, records...)
		return nil
	}}
}

func batch(n int) events.DynamoDBEvent {
	records := make([]tables.StreamRecord, n)
	for i := range records {
		key := tables.Key{PK: "P", SK: fmt.Sprint(i)}
		item := tables.Item{"pk": key.PK, "sk": key.SK, "type": "post", "n": int64(i)}
		records[i] = tables.StreamRecord{Shard: "shard", Seq: fmt.Sprint(100 + i), Event: "INSERT", At: now, Key: key, New: item}
	}
	return stream.ToLambda(records)
}

func TestBatchesReportFailedRecord(t *testing.T) {
	for _, c := range []struct {
		records int
		poison  string
		failed  []string
		err     bool
	}{
		{0, "", nil, false}, {1, "", nil, false}, {7, "", nil, false},
		{7, "101", []string{"101"}, false}, {7, "103", []string{"103"}, false}, {7, "106", []string{"106"}, false},
		{1, "100", []string{"100"}, false},
		{2, "100", nil, true}, {7, "100", nil, true},
	} {
		var done []tables.StreamRecord
		res, err := Batches(quiet(), poison(c.poison, &done))(t.Context(), batch(c.records))
		var failed []string
		for _, f := range res.BatchItemFailures {
			failed = append(failed, f.ItemIdentifier)
		}
		if (err != nil) != c.err || !slices.Equal(failed, c.failed) {
			t.Errorf("%d records, poison %q: reported %v, %v; want %v, error: %v", c.records, c.poison, failed, err, c.failed, c.err)
		}
		want := c.records
		if c.poison != "" {
			want = int(c.poison[2] - '0')
		}
		if len(done) != want {
			t.Errorf("%d records, poison %q: %d done, want %d", c.records, c.poison, len(done), want)
		}
		for i, r := range done {
			if r.Seq != fmt.Sprint(100+i) || r.New.Int("n") != int64(i) || r.Key.SK != fmt.Sprint(i) || r.Event != "INSERT" {
				t.Errorf("record %d = %+v, want seq %d, sk and n %[1]d, INSERT", i, r, 100+i)
			}
		}
		if b, _ := json.Marshal(res); err == nil && c.failed == nil && !bytes.Contains(b, []byte(`[]`)) {
			t.Errorf("%d records, all good: reported %s, want an empty list", c.records, b)
		}
	}
}

func TestBatchesRefuseUnreadableRecords(t *testing.T) {
	e := batch(2)
	e.Records[1].Change.NewImage["odd"] = events.NewNullAttribute()
	var done []tables.StreamRecord
	if res, err := Batches(quiet(), poison("", &done))(t.Context(), e); err == nil && len(res.BatchItemFailures) == 0 {
		t.Errorf("an unreadable record: got success with %+v, want a failure", done)
	}
}

func TestReadEnv_NamesEverythingMissing(t *testing.T) {
	const every = ^app.Capabilities(0)
	all := map[string]string{
		"BASE_URL": "https://social.example", "TABLE": "t", "SECRET_ARN": "arn", "AWS_REGION": "eu-central-1", "STAGE": "prod", "POW_BITS": "20", "PAGE_BITS": "12",
		"PEPPER_ARN": "pepper-arn", "PAYMENTS_ARN": "payments-arn", "MICRO_USD_PER_CHAR": "25", "MAIL_FROM": "no-reply@social.example", "MAIL_CONFIGURATION_SET": "set",
		"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_SESSION_TOKEN": "session", "WEB_ORIGINS": "https://a.example,https://b.example", "INDEX": "true", "ENDPOINT_METRICS": "false", "LOG_READS": "16", "LIMITS": `{"mails_day":1}`,
	}
	e, err := readEnv(func(n string) string { return all[n] }, every)
	want := Env{
		Table: "t", BaseURL: "https://social.example", Stage: "prod", Region: "eu-central-1",
		SecretARN: "arn", PepperARN: "pepper-arn", PaymentsARN: "payments-arn", AccessKey: "id", SecretKey: "key", SessionToken: "session",
		MailFrom: "no-reply@social.example", MailSet: "set", PowBits: 20, PageBits: 12, MicroUSDPerChar: 25,
		WebOrigins: "https://a.example,https://b.example", Index: true, NoEndpointMetrics: true, LogReads: 16, Limits: app.DefaultSettings().Limits,
	}
	want.Limits.MailsDay = 1
	if err != nil || e != want {
		t.Errorf("readEnv:\ngot\n%+v, %v\nwant\n%+v", e, err, want)
	}
	_, err = readEnv(func(n string) string {
		return map[string]string{"POW_BITS": "many", "PAGE_BITS": "31", "MICRO_USD_PER_CHAR": "0", "LIMITS": `{"mails_day":0}`, "MAIL_FROM": "no-reply@social.example"}[n]
	}, every)
	for _, name := range []string{"BASE_URL", "STAGE", "TABLE", "SECRET_ARN", "PEPPER_ARN", "PAYMENTS_ARN", "MAIL_CONFIGURATION_SET", "AWS_REGION", "POW_BITS", "PAGE_BITS", "MICRO_USD_PER_CHAR", "LIMITS (limit mails_day is 0;"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("readEnv: the error lacks %s: %v", name, err)
		}
	}
	_, err = readEnv(func(n string) string { return map[string]string{"LIMITS": "off"}[n] }, 0)
	if err == nil || !strings.Contains(err.Error(), "LIMITS (limits are off;") {
		t.Errorf("readEnv with LIMITS=off: got error %v, want \"limits are off\"", err)
	}
	for _, bits := range []string{"0", "65", "-1", "1.5", "x"} {
		_, err := readEnv(func(n string) string {
			if n == "POW_BITS" {
				return bits
			}
			return all[n]
		}, 0)
		if err == nil || !strings.Contains(err.Error(), "POW_BITS") || strings.Contains(err.Error(), "BASE_URL") {
			t.Errorf("readEnv with POW_BITS=%s = %v, want an error about POW_BITS, not BASE_URL", bits, err)
		}
	}
	if _, err := readEnv(func(n string) string { return map[string]string{"BASE_URL": "x"}[n] }, 0); err != nil {
		t.Errorf("readEnv with nothing but BASE_URL, without capabilities: got error %v, want none", err)
	}
	for _, c := range []struct {
		has  app.Capabilities
		set  string
		want string
	}{
		{app.Mail, "", ""},
		{app.Mail, "MAIL_FROM", "MAIL_CONFIGURATION_SET, AWS_REGION"},
		{app.Payments, "PAYMENTS_ARN AWS_REGION", "STAGE"}, // by STAGE, the service recognises its own payments
		{app.Table | app.Secret, "TABLE", "AWS_REGION, SECRET_ARN"},
	} {
		_, err := readEnv(func(n string) string {
			if n == "BASE_URL" || slices.Contains(strings.Fields(c.set), n) {
				return "x"
			}
			return ""
		}, c.has)
		got := ""
		if err != nil {
			_, got, _ = strings.Cut(err.Error(), "wrong: ")
		}
		if got != c.want {
			t.Errorf("readEnv(%s) with %q set: missing %q, want %q", c.has, c.set, got, c.want)
		}
	}
}

func TestTicks_Quiet(t *testing.T) {
	for what, c := range map[string]struct {
		took  time.Duration
		lag   time.Duration
		spent float64
		ends  error
		lines int
	}{
		"nothing was due": {},
		"slow":            {took: quietTick, lines: 1},
		"work was due":    {lag: time.Second, lines: 1},
		"wrote":           {spent: 1, lines: 1},
		"failed":          {ends: errors.New("broken"), lines: 1},
		"unfinished":      {ends: schedule.ErrUnfinished, lines: 1},
	} {
		var log bytes.Buffer
		a, clock := quiet(), now
		a.Now = func() time.Time { return clock }
		a.Log = slog.New(slog.NewJSONHandler(&log, nil))
		a.Table = &dueTable{items: []tables.Item{{"rank_sk": tables.DueSK(clock.Add(-c.lag), "x")}}}
		f := schedule.Function{Name: "settle", Handle: func(ctx context.Context) error {
			clock = clock.Add(c.took)
			tables.Spend(ctx, 3, c.spent)
			if c.lag == 0 {
				return c.ends
			}
			return schedule.Each(ctx, a, tables.Query{}, 1, func(context.Context, tables.Item) error { return nil })
		}}
		_ = Ticks(a, f)(t.Context())
		if n := strings.Count(log.String(), "\n"); n != c.lines {
			t.Errorf("%s: got %d lines, want %d: %s", what, n, c.lines, &log)
		}
	}
}

func TestTicks(t *testing.T) { synctest.Test(t, testTicks) }

func testTicks(t *testing.T) {
	var log bytes.Buffer
	a := quiet()
	a.Log = slog.New(slog.NewJSONHandler(&log, nil))
	var left time.Duration
	broken := errors.New("broken")
	for _, ends := range []error{nil, broken, schedule.ErrUnfinished} {
		want := ends
		if ends == schedule.ErrUnfinished {
			want = nil
		}
		f := schedule.Function{Name: "deadlines", Handle: func(ctx context.Context) error {
			end, _ := ctx.Deadline()
			left = time.Until(end)
			tables.Spend(ctx, 3, 2)
			return ends
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := Ticks(a, f)(ctx); err != want {
			t.Errorf("Ticks = %v, want %v", err, want)
		}
		cancel()
		if left != 10*time.Second-lastWords {
			t.Errorf("the tick has %s, want 9.5 s", left)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	for i, parts := range [][]string{
		{`"msg":"tick"`, `"function":"deadlines"`, `"error":""`, `"unfinished":0`, `"read_units":3`, `"write_units":2`},
		{`"error":"broken"`, `"unfinished":0`},
		{`"error":""`, `"unfinished":1`},
	} {
		for _, part := range parts {
			if !strings.Contains(lines[i], part) {
				t.Errorf("the log lacks %s: %s", part, lines[i])
			}
		}
	}
}
