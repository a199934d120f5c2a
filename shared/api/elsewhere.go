package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// elsewhere holds the routes of other functions ([Group.Elsewhere]). It is filled on the
// first request that matches no endpoint here.
type elsewhere struct {
	mux    *http.ServeMux
	public map[string]bool // by route
	all    []string        // this function's routes and those of others, sorted
}

func newElsewhere(groups []Group) *elsewhere {
	e := &elsewhere{mux: http.NewServeMux(), public: map[string]bool{}}
	for _, g := range groups {
		for _, own := range g.Endpoints {
			e.all = append(e.all, own.Route)
		}
		if g.Elsewhere == nil {
			continue
		}
		for path, methods := range g.Elsewhere() {
			for m, public := range methods {
				e.mux.Handle(PatternOf(m+" "+path), http.NotFoundHandler())
				e.public[m+" "+path] = public
			}
		}
	}
	e.all = slices.AppendSeq(e.all, maps.Keys(e.public))
	slices.Sort(e.all)
	e.all = slices.Compact(e.all)
	return e
}

func (e *elsewhere) find(r *http.Request) string {
	_, pattern := e.mux.Handler(r)
	return strings.TrimSuffix(pattern, exactly)
}
