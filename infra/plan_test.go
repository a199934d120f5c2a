package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

func TestPlanRefuses(t *testing.T) {
	assets := t.TempDir()
	for _, n := range fakes.names() {
		if err := stub(assets, n); err != nil {
			t.Fatal(err)
		}
	}
	const table, both = app.Table, app.Table | app.Secret
	group := func(name string, needs app.Capabilities, routes ...string) []api.Group {
		g := api.Group{Name: name, Needs: needs}
		for _, r := range routes {
			g.Endpoints = append(g.Endpoints, api.Endpoint{Route: r, Auth: api.Sig})
		}
		return append(slices.Clone(fakeGroups), g)
	}
	reader := func(batch int, window time.Duration, filters ...stream.Filter) []stream.Function {
		return []stream.Function{{Name: "inbox", Batch: batch, Window: window, Filters: filters}}
	}
	post := stream.Filter{Type: "post", Events: []string{"INSERT"}}

	for _, c := range []struct {
		name    string
		groups  []api.Group
		readers []stream.Function
		want    string // "" for none
	}{
		{"valid declarations", fakeGroups, fakeReaders, ""},
		{"a missing binary", group("votes", both), nil, "run `make build`"},
		{"no default group", fakeGroups[:1], nil, `no group "docs"`},
		{"two functions of one name", append(slices.Clone(fakeGroups), api.Group{Name: "inbox"}), fakeReaders, `two functions are named "inbox"`},
		{"an invalid name", group("../posts", both), nil, "is not a function name"},
		{"a repeated route", group("posts", both, "GET /v1/history"), nil, `"GET /v1/history" is already in group history`},
		{"routes that differ in a parameter's name", group("posts", both, "DELETE /v1/c/{channel}/posts/{post}"), nil, "is already in group posts"},
		{"a parameter as part of a segment", group("posts", both, "GET /docs/{topic}.md"), nil, `cannot match the segment "{topic}.md"`},
		{"an empty segment", group("posts", both, "GET /docs/"), nil, `cannot match the segment ""`},
		{"a rest parameter in the middle", group("posts", both, "GET /a/{rest...}/b"), nil, "cannot match the segment"},
		{"no method", group("posts", both, "/v1/x"), nil, "is not an endpoint's method"},
		{"a method that only the default group answers", group("posts", both, "OPTIONS /v1/x"), nil, "is not an endpoint's method"},
		{"no path", group("posts", both, "GET v1"), nil, "does not begin with /"},
		{"an effect without the table", group("posts", 0, "POST /v1/x"), nil, "does not need the table"},
		{"mail without the table", group("posts", app.Mail, "GET /v1/x"), nil, "group posts hashes addresses or sends mail, but does not need the table"},
		{"a pepper without the table", group("posts", app.Pepper, "GET /v1/x"), nil, "hashes addresses or sends mail"},
		{"an empty batch", fakeGroups, reader(0, 0, post), "a batch of 0 records"},
		{"a window of 1.5 s", fakeGroups, reader(1, 1500*time.Millisecond, post), "a window of 1.5s"},
		{"no filters", fakeGroups, reader(1, 0), "declares no filters"},
		{"an unknown event", fakeGroups, reader(1, 0, stream.Filter{Type: "post", Events: []string{"UPDATE"}}), `"UPDATE" is not a stream event`},
		{"three readers", fakeGroups, append(slices.Clone(fakeReaders), reader(1, 0, post)...), "a shard allows 2"},
	} {
		_, err := newPlan(declared{groups: c.groups, readers: c.readers, schedules: fakeSchedules}, assets)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}

	for want, s := range map[string]schedule.Function{
		`two functions are named "inbox"`: {Name: "inbox", Every: 5 * time.Minute},
		"must be whole minutes":           {Name: "deadlines", Every: 90 * time.Second},
		"every 0s":                        {Name: "deadlines"},
		"may take 2m0s":                   {Name: "deadlines", Every: 2 * time.Minute},
	} {
		d := fakes
		d.schedules = []schedule.Function{s}
		if _, err := newPlan(d, assets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("schedule %s every %s: got %v, want %q", s.Name, s.Every, err, want)
		}
	}

	own := filepath.Join(assets, fakeGroups[0].Name, "bootstrap")
	if err := os.Chmod(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := newPlan(fakes, assets); err == nil || !strings.Contains(err.Error(), own+"; run `make build`") {
		t.Errorf("a binary that only its owner may run: got %v, want %s; run `make build`", err, own)
	}

	open := api.Group{Name: "posts", Needs: table, Endpoints: []api.Endpoint{{Route: "GET /v1/x", Auth: api.None}}}
	if err := checkNeeds(open); err == nil || !strings.Contains(err.Error(), "add app.Secret") {
		t.Errorf("a public read without the secret: got %v, want an error with \"add app.Secret\"", err)
	}
}

func TestRoutes(t *testing.T) {
	for pattern, want := range map[string]route{
		"GET /":                        {Key: "GET /", ID: "GET /"},
		"GET /llms.txt":                {Key: "GET /llms.txt", ID: "GET /llms.txt"},
		"POST /v1/c/{ch}/posts/{id}/v": {Key: "POST /v1/c/{ch}/posts/{id}/v", ID: "POST /v1/c/{}/posts/{}/v"},
		"GET /.well-known/{rest...}":   {Key: "GET /.well-known/{rest+}", ID: "GET /.well-known/{+}"},
	} {
		method, path, _ := strings.Cut(pattern, " ")
		if got, err := routeOf(method, path); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", pattern, got, err, want)
		}
	}
}
