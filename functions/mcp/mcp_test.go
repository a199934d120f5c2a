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

func TestServerIsBuiltOnce(t *testing.T) {
	made, declared := 0, 0
	other := func(*app.App) api.Group { declared++; return api.Group{Name: "other"} }
	g := New(other)(&app.App{Now: time.Now, Log: nothing})
	warm := g.Warm
	g.Warm = func() { made++; warm() }
	if made != 0 || declared != 1 {
		t.Fatalf("before there is a server: got warmed %d times and declared %d times, want 0 and 1", made, declared)
	}
	s := api.NewServer(&app.App{Now: time.Now, Log: nothing, Rand: zeros{}}, g)
	for range 3 {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Header.Set("Authorization", "Bearer ast_nonsense")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 401 {
			t.Fatalf("ping with a bad token: got status %d %s, want 401", w.Code, w.Body)
		}
	}
	if made != 1 || declared != 1 {
		t.Errorf("after three requests: got warmed %d times and declared %d times, want 1 and 1", made, declared)
	}
}

func TestToolsOf_Schemas(t *testing.T) {
	var tools []api.Tool
	mustRead(toolsJSON, &tools)
	list := toolsOf(tools)
	if len(list) != len(tools) || list[0].Name != first {
		t.Fatalf("got %d tools, %s first; want %d, %s first", len(list), list[0].Name, len(tools), first)
	}
	for _, x := range list {
		if s, _ := x.InputSchema.(interface{ MarshalJSON() ([]byte, error) }); s == nil {
			t.Errorf("schema of %s: got a %T, want one with MarshalJSON", x.Name, x.InputSchema)
		} else if b, err := s.MarshalJSON(); err != nil || !strings.HasPrefix(string(b), `{"`) || strings.Contains(string(b), "\n") {
			t.Errorf("schema of %s: got %.100s, %v; want compact JSON", x.Name, b, err)
		}
	}
}

var nothing = slog.New(slog.DiscardHandler)

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
