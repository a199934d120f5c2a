package secret

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// standIn stands in for Secrets Manager. It has one secret.
type standIn struct {
	mu     sync.Mutex
	stages map[string]string
	down   bool
	calls  int
}

func (m *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	var in struct{ SecretId, VersionStage string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if in.VersionStage == "" {
		in.VersionStage = "AWSCURRENT"
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	answer, status := map[string]any{"ARN": in.SecretId, "SecretString": m.stages[in.VersionStage]}, http.StatusOK
	switch {
	case m.down || in.SecretId != "arn:edge":
		answer, status = map[string]any{"__type": "AccessDeniedException", "Message": "no"}, http.StatusBadRequest
	case m.stages[in.VersionStage] == "":
		answer, status = map[string]any{"__type": "ResourceNotFoundException", "Message": "none"}, http.StatusBadRequest
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (m *standIn) set(stages map[string]string, down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stages, m.down = stages, down
}

type seen struct {
	Address string `json:"address"`
	Secret  string `json:"secret"`
	Viewer  string `json:"viewer"`
}

type seeIn struct {
	Secret string `header:"x-origin-secret"`
	Viewer string `header:"x-viewer-address"`
}

// edged is a service behind an edge.
type edged struct {
	t       *testing.T
	manager *standIn
	url     string
	now     time.Time
	log     bytes.Buffer
}

func newEdged(t *testing.T, stages map[string]string) *edged {
	f := &edged{t: t, manager: &standIn{stages: stages}, now: noon}
	aws := httptest.NewServer(f.manager)
	t.Cleanup(aws.Close)
	a := &app.App{
		Now: func() time.Time { return f.now }, Rand: rand.Reader, Log: slog.New(slog.NewJSONHandler(&f.log, nil)), Settings: app.DefaultSettings(),
	}
	a.Settings.BaseURL = "https://agents.example"
	Edge.Add(host.Env{EdgeSecretARN: "arn:edge", SecretsManagerURL: aws.URL, Region: "us-east-1", AccessKey: "a", SecretKey: "s"}, a)
	server := api.NewServer(a, api.Group{Name: "test", Endpoints: []api.Endpoint{
		api.On(api.Endpoint{Route: "GET /v1/open", Cache: time.Minute}, func(ctx context.Context, in *seeIn) (*seen, error) {
			return &seen{api.From(ctx).Address, in.Secret, in.Viewer}, nil
		}),
		api.On(api.Endpoint{Route: "POST /v1/open", Pure: true}, func(ctx context.Context, in *seeIn) (*seen, error) {
			return &seen{api.From(ctx).Address, in.Secret, in.Viewer}, nil
		}),
	}})
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server.ServeHTTP(w, r.WithContext(api.WithRaw(r.Context(), api.Raw{
			Path: r.URL.Path, Query: r.URL.RawQuery, RequestID: "request-7", Address: "192.0.2.1", // the edge's own
		})))
	}))
	t.Cleanup(gateway.Close)
	f.url = gateway.URL
	return f
}

// call makes a request with the two headers that the edge adds. It leaves out empty ones.
func (f *edged) call(method, sent, viewer string) (int, string) {
	f.t.Helper()
	req, err := http.NewRequest(method, f.url+"/v1/open", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for name, value := range map[string]string{api.HeaderEdgeSecret: sent, api.HeaderViewerAddress: viewer} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK && res.Header.Get("Cache-Control") != "private, no-store" {
		f.t.Errorf("%s: got %d with Cache-Control %q, want private, no-store", method, res.StatusCode, res.Header.Get("Cache-Control"))
	}
	return res.StatusCode, string(b)
}

var (
	edgeOne   = strings.Repeat("1", minEdge)
	edgeTwo   = strings.Repeat("2", minEdge)
	edgeThree = strings.Repeat("3", minEdge)
)

func TestEdge_RefusesCallersThatGoAroundIt(t *testing.T) {
	f := newEdged(t, map[string]string{"AWSCURRENT": edgeOne})
	for _, c := range []struct{ name, viewer, want string }{
		{"IPv4", "203.0.113.9", "203.0.113.9"},
		{"IPv6", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"},
		{"no address", "", "192.0.2.1"},
		{"not an address", "203.0.113.9, 198.51.100.1", "192.0.2.1"},
	} {
		for _, method := range []string{"GET", "POST"} {
			if status, body := f.call(method, edgeOne, c.viewer); status != 200 || body != `{"address":"`+c.want+`","secret":"","viewer":""}`+"\n" {
				t.Errorf("%s with %s: got %d %s, want 200 and the address %s", method, c.name, status, body, c.want)
			}
		}
	}
	for name, sent := range map[string]string{
		"no secret": "", "another secret": edgeTwo, "a part of the secret": edgeOne[1:], "more than the secret": edgeOne + "1", "two secrets": edgeTwo + "\t" + edgeOne,
	} {
		for _, method := range []string{"GET", "POST", "OPTIONS", "DELETE", "HEAD"} {
			status, body := f.call(method, sent, "203.0.113.9")
			if status != 403 || method != "HEAD" && (!strings.Contains(body, `"code":"edge_required"`) || !strings.Contains(body, "call https://agents.example.")) {
				t.Errorf("%s with %s: got %d %s, want 403 edge_required", method, name, status, body)
			}
			if strings.Contains(body, beginningOf(edgeOne)) || strings.Contains(body, beginningOf(edgeTwo)) {
				t.Errorf("%s with %s: the answer has a secret: %s", method, name, body)
			}
		}
	}
	if log := f.log.String(); strings.Contains(log, beginningOf(edgeOne)) || strings.Contains(log, beginningOf(edgeTwo)) || strings.Contains(log, "203.0.113.9") {
		t.Errorf("the log has a secret or an address:\n%s", log)
	}
	for message, want := range map[string]int{
		api.EdgeUnknown:   5 * 5, // also without a secret, since the request has the edge's header with an address
		api.EdgeAddressed: 2 * 2,
	} {
		if n := strings.Count(f.log.String(), message); n != want {
			t.Errorf("got %d lines %q in the log, want %d", n, message, want)
		}
	}
}

// beginningOf returns a part of a secret that no answer contains by chance.
func beginningOf(secret string) string { return secret[:16] }

func TestEdge_Rotation(t *testing.T) {
	f := newEdged(t, map[string]string{"AWSCURRENT": edgeOne})
	expect := func(when, sent string, want int) {
		t.Helper()
		if status, body := f.call("GET", sent, "203.0.113.9"); status != want {
			t.Errorf("%s: got %d %s, want %d", when, status, body, want)
		}
	}
	expect("before", edgeOne, 200)
	f.manager.set(map[string]string{"AWSCURRENT": edgeTwo, "AWSPREVIOUS": edgeOne}, false)
	expect("old secret after the change", edgeOne, 200)
	f.now = f.now.Add(apart)
	expect("new secret after the change", edgeTwo, 200)
	expect("old secret still", edgeOne, 200)
	f.manager.set(map[string]string{"AWSCURRENT": edgeThree, "AWSPREVIOUS": edgeTwo}, false)
	f.now = f.now.Add(keptFor)
	expect("two changes ago", edgeOne, 403)
	expect("previous", edgeTwo, 200)
	calls := f.manager.calls
	for range 20 {
		expect("wrong", edgeOne, 403)
	}
	if f.manager.calls != calls {
		t.Errorf("reads of the secret for 20 wrong ones: got %d, want 0 within %s of the last read", f.manager.calls-calls, apart)
	}
}

func TestEdge_ShortVersion(t *testing.T) {
	short := edgeTwo[:minEdge-1]
	for _, stages := range []map[string]string{
		{"AWSCURRENT": short, "AWSPREVIOUS": edgeOne}, {"AWSCURRENT": edgeOne, "AWSPREVIOUS": short},
	} {
		f := newEdged(t, stages)
		for sent, want := range map[string]int{edgeOne: 200, short: 403} {
			if status, body := f.call("GET", sent, "203.0.113.9"); status != want {
				t.Errorf("versions %v, sent %s: got %d %s, want %d", stages, sent, status, body, want)
			}
		}
	}
}

func TestEdge_SecretUnreadable(t *testing.T) {
	for name, stages := range map[string]map[string]string{"down": nil, "none": {}, "too short": {"AWSCURRENT": edgeOne[1:]}} {
		f := newEdged(t, stages)
		f.manager.down = name == "down"
		for _, sent := range []string{edgeOne, edgeOne[1:]} {
			if status, body := f.call("GET", sent, "203.0.113.9"); status != 503 && status != 500 || strings.Contains(body, edgeOne[1:]) {
				t.Errorf("%s: got %d %s, want 500 or 503, without the secret", name, status, body)
			}
		}
		f.manager.set(map[string]string{"AWSCURRENT": edgeOne}, false)
		f.now = f.now.Add(apart)
		if status, body := f.call("GET", edgeOne, "203.0.113.9"); status != 200 {
			t.Errorf("%s, then readable: got %d %s, want 200", name, status, body)
		}
	}
}

func TestEdge_None(t *testing.T) {
	a := &app.App{}
	if Edge.Add(host.Env{}, a); a.Edge != nil {
		t.Error("Edge is set in a deployment without an edge")
	}
}
