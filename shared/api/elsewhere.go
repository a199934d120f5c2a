package api

import "net/http"

// elsewhere are the routes of other functions, as far as groups know of them.
// They are looked up for what has no endpoint here, and only then gathered.
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

// find is the route that serves a request, "" if none does.
func (e *elsewhere) find(r *http.Request) string {
	_, route := e.mux.Handler(r)
	return route
}
