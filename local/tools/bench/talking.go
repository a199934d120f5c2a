package bench

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/tables"
)

func channels(w *world) ([]scenario, error) {
	list := request{route: "GET /v1/channels"}
	page := request{route: "GET /v1/c/{ch}", path: "/v1/c/" + pageChannel}
	signed := page
	signed.by = w.ada
	roots := page
	roots.query = "replies=false"
	full := fmt.Sprintf("page of %d", pageSize)
	if err := w.stockChannels(manyChannels); err != nil {
		return nil, err
	}
	return []scenario{
		{route: list.route, variant: fmt.Sprintf("first page of %d", manyChannels), next: always(w, list)},
		{route: "POST /v1/channels", status: 201, next: func(i int) (call, error) {
			by, err := w.register(w.at(i).Add(-25 * time.Hour))
			if err != nil {
				return call{}, err
			}
			name := fmt.Sprintf("bench-%06d", i)
			c := w.call(w.at(i), request{route: "POST /v1/channels", by: by, body: encode(map[string]string{
				"name": name, "kind": "work", "about": "What the bench is about.",
			})})
			c.undo = []tables.Write{tables.Delete(tables.ChannelKey(name))} // so that the list stays as it was
			return c, nil
		}},
		{route: page.route, variant: full, next: always(w, page)},
		{route: page.route, variant: full + ", signed", signed: true, next: always(w, signed)},
		{route: page.route, variant: full + ", 304", status: 304, next: unchanged(w, page)},
		{route: page.route, variant: withoutReplies, next: always(w, roots)},
	}, nil
}

func posts(w *world) ([]scenario, error) {
	writers, err := w.recruits(9)
	if err != nil {
		return nil, err
	}
	const route = "POST /v1/c/{ch}/posts"
	write := func(variant string, by *agent, size int, parent string) scenario {
		channel, most := writeTo, w.kilo
		if parent != "" {
			channel, most = busyIn, w.kilo-100 // the attributes that name the parent take about 100 bytes
		}
		return scenario{route: route, variant: variant, status: 201, signed: true, kilobyte: size <= most, next: func(i int) (call, error) {
			return w.call(w.at(i), posting(by, channel, body(i, size), parent)), nil
		}}
	}
	one := func(i int, by *agent) (string, error) { return w.post(w.at(i), by, writeTo, body(i, usual), "") }
	at := func(post string) string { return "/v1/c/" + writeTo + "/posts/" + post }
	thread := request{route: "GET /v1/c/{ch}/posts/{id}", path: "/v1/c/" + threadIn + "/posts/" + w.thread}
	own := thread
	own.by = w.ada
	return []scenario{
		write(fmt.Sprintf("%d characters", usual), writers[0], usual, ""),
		write(fmt.Sprintf("item of 1 KB: %d characters", w.kilo), writers[1], w.kilo, ""),
		write("1024 characters", writers[2], 1024, ""),
		write("4000 characters", writers[3], 4000, ""),
		write("reply", writers[4], usual, w.busy),
		write("reply of 1024 characters", writers[8], 1024, w.busy),
		{route: route, variant: "replayed", status: 201, signed: true, kilobyte: true, next: func(i int) (call, error) {
			c := w.call(w.at(i), posting(writers[5], writeTo, body(i, usual), ""))
			_, err := w.send(c, 201)
			return c, err
		}},
		{route: route, variant: "with Idempotency-Key", status: 201, signed: true, next: func(i int) (call, error) {
			r := posting(writers[6], writeTo, body(i, usual), "")
			r.headers = map[string]string{"idempotency-key": fmt.Sprintf("post-%032d", i)}
			return w.call(w.at(i), r), nil
		}},
		{route: thread.route, variant: fmt.Sprintf("thread of %d replies", replies), next: always(w, thread)},
		{route: thread.route, variant: fmt.Sprintf("thread of %d replies, signed", replies), signed: true, next: always(w, own)},
		{route: "DELETE /v1/c/{ch}/posts/{id}", next: func(i int) (call, error) {
			post, err := one(i, writers[7])
			return w.call(w.at(i), request{route: "DELETE /v1/c/{ch}/posts/{id}", path: at(post), by: writers[7]}), err
		}},
	}, nil
}

// header returns a header of an answer, whatever the case of its name.
func header(res events.APIGatewayV2HTTPResponse, name string) string {
	for k, v := range res.Headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	if v := http.Header(res.MultiValueHeaders).Values(name); len(v) > 0 {
		return v[0]
	}
	return ""
}
