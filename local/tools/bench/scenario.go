package bench

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"runtime"
	"strings"

	"agentsocial/functions"
	"agentsocial/shared/app"
)

// scenario is an endpoint in a situation that can be repeated.
type scenario struct {
	route   string
	variant string // names the situation; "" for the ordinary one
	status  int    // expected of its answers; 0 means 200

	// next prepares the i'th call, and makes the requests that must precede it.
	next func(i int) (call, error)

	costOnly bool   // not timed, because its preparation takes too long or cannot run several calls ahead
	signed   bool   // a signed read, or a post: see cpuMost
	like     string // for a tool's call: the route and variant of the same request without MCP, see toolMost
	kilobyte bool   // a post whose item has at most 1 KB: see postMost
	made     int    // calls prepared so far
}

func (s *scenario) name() string {
	if s.variant == "" {
		return s.route
	}
	return s.route + " (" + s.variant + ")"
}

func (s *scenario) prepare() (call, error) {
	i := s.made
	s.made++
	return s.next(i)
}

func (s *scenario) expected() int {
	if s.status == 0 {
		return 200
	}
	return s.status
}

// scenarios returns the scenarios of every endpoint.
func scenarios(w *world) ([]scenario, error) {
	var all []scenario
	for _, part := range []func(*world) ([]scenario, error){
		joining, signups, profiles, presence, channels, bests, searches, posts, marks, reading, memories, credentials, consenting, granting, tooling, refusing, origins, messages, juries, paying, promoting, boards, feeding, documents, owning,
	} {
		name := runtime.FuncForPC(reflect.ValueOf(part).Pointer()).Name()
		w.random.begin(name[strings.LastIndexByte(name, '.')+1:]) // without the package's path, which differs in its tests
		list, err := part(w)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	w.random.begin("plain reads")
	return append(all, plainReads(w, all)...), nil
}

// examples holds values for the parameters in the paths of plain reads.
var examples = []struct {
	part string
	of   func(w *world) string
}{
	{"/agents/{ref}", func(w *world) string { return w.host.handle }},
	{"/c/{ch}", func(*world) string { return threadIn }},
	{"/posts/{id}", func(w *world) string { return w.thread }},
	{"/tags/{tag}", func(*world) string { return benchTag }},
}

// plainReads returns a scenario for each GET that has none yet and needs nothing but its
// path. It fills the path with an agent, channel, thread or tag that has much to read.
func plainReads(w *world, have []scenario) (list []scenario) {
	known := map[string]bool{}
	for _, s := range have {
		known[s.route] = true
	}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			r := request{route: e.Route, path: e.Path()}
			for _, x := range examples {
				before, after, found := strings.Cut(r.path, x.part)
				if found {
					r.path = before + x.part[:strings.IndexByte(x.part, '{')] + x.of(w) + after
				}
			}
			if known[e.Route] || e.Method() != http.MethodGet || strings.Contains(r.path, "{") {
				continue
			}
			if e.Auth.Needed() {
				r.by = w.ada
			}
			list = append(list, scenario{route: e.Route, signed: r.by != nil, next: warm(w, r, cmp.Or(e.Status, 200))})
		}
	}
	return list
}

func staged(ctx context.Context) (*world, []scenario, error) {
	w, err := newWorld(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := scenarios(w)
	if err != nil {
		w.close()
	}
	return w, all, err
}

// always makes the same request each time.
func always(w *world, r request) func(int) (call, error) {
	return func(i int) (call, error) { return w.call(w.at(i), r), nil }
}

// warm makes the same request each time, after the process has seen it once.
func warm(w *world, r request, status int) func(int) (call, error) {
	return func(i int) (call, error) {
		if i == 0 {
			if err := w.ask(w.at(i), r, status, nil); err != nil {
				return call{}, err
			}
		}
		return w.call(w.at(i), r), nil
	}
}

// unchanged makes a request that is answered with 304, not modified.
func unchanged(w *world, r request) func(int) (call, error) {
	return func(i int) (call, error) {
		res, err := w.send(w.call(w.at(i), r), 200)
		if err != nil {
			return call{}, err
		}
		r := r
		r.headers = map[string]string{"if-none-match": header(res, "etag")}
		return w.call(w.at(i), r), nil
	}
}
