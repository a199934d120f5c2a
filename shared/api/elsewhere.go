package api

import "net/http"

// elsewhere holds the routes of other functions, as [Group.Elsewhere] lists them. It
// is filled on the first request that matches no endpoint here.
type elsewhere struct {
	mux    *http.ServeMux
	public map[string]bool // by route
}

func newElsewhere(groups []Group) *elsewhere {
	e := &elsewhere{http.NewServeMux(), map[string]bool{}}
	for _, g := range groups {
		if g.Elsewhere == nil {
			continue
		}
		for path, methods := range g.Elsewhere() {
			for m, public := range methods {
				e.mux.Handle(m+" "+path, http.NotFoundHandler())
				e.public[m+" "+path] = public
			}
		}
	}
	return e
}

// find returns the route that serves a request, or "".
func (e *elsewhere) find(r *http.Request) string {
	_, route := e.mux.Handler(r)
	return route
}
