package api

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

// A tool's endpoint sees the caller's address, not that of the edge.
func TestEdge_AddressOfTools(t *testing.T) {
	h := build(t, nil)
	a := *h.app
	type none struct{}
	type where struct {
		Address string `json:"address"`
	}
	group := Group{Name: "inner", Endpoints: []Endpoint{
		On(Endpoint{Route: "GET /where", Tool: "where", Doc: "Says where."}, func(ctx context.Context, _ *none) (*where, error) {
			return &where{From(ctx).Address}, nil
		}),
	}}
	tools, _ := Tools(group)
	if len(tools) != 1 {
		t.Fatalf("Tools: got %d tools, want 1", len(tools))
	}
	for sent, want := range map[string]string{"right": "198.51.100.7", "": "203.0.113.9"} {
		if a.Edge = nil; sent != "" {
			a.Edge = func(_ context.Context, got string) (bool, error) { return got == "right", nil }
		}
		inner := NewServer(&a, group)
		outer := NewServer(&a, Group{Name: "outer", Endpoints: []Endpoint{
			On(Endpoint{Route: "POST /relay", Pure: true}, func(ctx context.Context, _ *none) (*where, error) {
				answer := From(ctx).Invoke(ctx, inner, nil, &tools[0], &Arguments{})
				if answer.Refusal != nil {
					return nil, answer.Refusal
				}
				return &where{string(answer.Body)}, nil
			}),
		}})
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			outer.ServeHTTP(w, r.WithContext(WithRaw(r.Context(), Raw{Path: r.URL.Path, RequestID: "r", Address: "203.0.113.9"})))
		}))
		req, err := http.NewRequest("POST", gateway.URL+"/relay", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(HeaderEdgeSecret, sent)
		req.Header.Set(HeaderViewerAddress, "198.51.100.7")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		gateway.Close()
		if res.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("with the secret %q: got %d %s, want 200 with the address %s", sent, res.StatusCode, body, want)
		}
	}
}

func TestEdge_IsACapability(t *testing.T) {
	a := &app.App{Edge: func(context.Context, string) (bool, error) { return true, nil }}
	if without, with := a.Only(app.Table).Edge != nil, a.Only(app.Table|app.Edge).Edge != nil; without || !with {
		t.Errorf("Edge is set after Only(Table): %t, after Only(Table|Edge): %t; want false, true", without, with)
	}
}
