package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// What takes time is done for what is asked, once, and not when a server is made.
func TestEndpointsAreBoundWhenAsked(t *testing.T) {
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
		t.Errorf("a new server has bound %v, and gathered routes %d times", bound, gathered)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code := get("GET", "/one"); code != http.StatusOK {
				t.Errorf("GET /one is answered %d", code)
			}
		})
	}
	all.Wait()
	if bound["GET /one"] != 1 || bound["GET /two"] != 0 || gathered != 0 {
		t.Errorf("asked for one, it bound %v, and gathered routes %d times", bound, gathered)
	}
	for range 2 {
		if code := get("POST", "/three"); code != http.StatusMethodNotAllowed {
			t.Errorf("POST /three is answered %d", code)
		}
	}
	if gathered != 1 {
		t.Errorf("routes of others were gathered %d times", gathered)
	}
}

// countedOne and countedTwo are parameters that tell when their input is bound.
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

// A page is no JSON: its declaration says so.
func TestPagesAreDeclaredAsPages(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("On takes a page")
		}
	}()
	On(Endpoint{Route: "GET /page"}, func(context.Context, *struct{}) (*Page, error) { return nil, nil })
}
