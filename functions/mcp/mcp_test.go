package mcp

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// What requests are answered with is made once, by the server's beginning, and
// not by the first request, or by each.
func TestServerIsBuiltOnce(t *testing.T) {
	made, declared := 0, 0
	other := func(*app.App) api.Group { declared++; return api.Group{Name: "other"} }
	g := New(other)(&app.App{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	warm := g.Warm
	g.Warm = func() { made++; warm() }
	if made != 0 || declared != 1 {
		t.Fatalf("made %d times, of %d declarations, before there is a server", made, declared)
	}
	s := api.NewServer(&app.App{Now: time.Now, Log: slog.New(slog.DiscardHandler), Rand: zeros{}}, g)
	for range 3 {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Header.Set("Authorization", "Bearer ast_nonsense")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 401 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if made != 1 || declared != 1 {
		t.Errorf("made %d times, of %d declarations", made, declared)
	}
}

// Each tool that is listed has its schemas, and the first is first.
func TestFilesAgree(t *testing.T) {
	var tools []api.Tool
	mustRead(toolsJSON, &tools)
	list := toolsOf(tools)
	if len(list) != len(tools) || list[0].Name != first {
		t.Fatalf("%d of %d are listed, %s first", len(list), len(tools), list[0].Name)
	}
	for _, x := range list {
		if s, _ := x.InputSchema.(interface{ MarshalJSON() ([]byte, error) }); s == nil {
			t.Errorf("%s has no schema", x.Name)
		} else if b, err := s.MarshalJSON(); err != nil || !strings.HasPrefix(string(b), `{"`) || strings.Contains(string(b), "\n") {
			t.Errorf("%s: %v %.100s", x.Name, err, b)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
