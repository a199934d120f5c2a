package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

func TestEndpointsAreBoundOnFirstUse(t *testing.T) {
	h := build(t, nil)
	bound, gathered := map[string]int{}, 0
	one := func(context.Context, *struct {
		N countedOne `query:"n"`
	}) (*struct{}, error) {
		return &struct{}{}, nil
	}
	two := func(context.Context, *struct {
		N countedTwo `query:"n"`
	}) (*struct{}, error) {
		return &struct{}{}, nil
	}
	whenBound = func(route string) { bound[route]++ }
	s := NewServer(h.app, Group{
		Name: "lazy", Endpoints: []Endpoint{On(Endpoint{Route: "GET /one"}, one), On(Endpoint{Route: "GET /two"}, two)},
		Elsewhere: func() map[string]map[string]bool {
			gathered++
			return map[string]map[string]bool{"/three": {"GET": true}}
		},
	})
	get := func(method, path string) int {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code
	}
	if len(bound) > 0 || gathered > 0 {
		t.Errorf("NewServer bound %v and gathered routes %d times, want neither", bound, gathered)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code := get("GET", "/one"); code != http.StatusOK {
				t.Errorf("GET /one: got status %d, want 200", code)
			}
		})
	}
	all.Wait()
	if bound["GET /one"] != 1 || bound["GET /two"] != 0 || gathered != 0 {
		t.Errorf("after GET /one: bound %v, gathered routes %d times; want GET /one once, no routes", bound, gathered)
	}
	for range 2 {
		if code := get("POST", "/three"); code != http.StatusMethodNotAllowed {
			t.Errorf("POST /three: got status %d, want 405", code)
		}
	}
	if gathered != 1 {
		t.Errorf("routes of other functions were gathered %d times, want 1", gathered)
	}
}

// countedOne and countedTwo count how often they are bound.
type (
	countedOne string
	countedTwo string
)

var whenBound func(route string)

func (countedOne) Schema(huma.Registry) *huma.Schema {
	whenBound("GET /one")
	return &huma.Schema{Type: huma.TypeString}
}

func (countedTwo) Schema(huma.Registry) *huma.Schema {
	whenBound("GET /two")
	return &huma.Schema{Type: huma.TypeString}
}

func TestOn_RefusesPage(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("On accepted a page, want a panic")
		}
	}()
	On(Endpoint{Route: "GET /page"}, func(context.Context, *struct{}) (*Page, error) { return nil, nil })
}
