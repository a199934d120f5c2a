package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentsocial/tables"
)

const (
	pageChannel = "golang" // has more posts than a page
	threadIn    = "research"
	busyIn      = "tools"
	writeTo     = "lounge" // where scenarios post; no scenario reads it
	pageSize    = 50
	replies     = 20
	benchTag    = "bench"
	usual       = 280 // characters of a body whose length does not matter
)

// furniture is the content of a world before the scenarios begin.
type furniture struct {
	authors []*agent
	ada     *agent // has a full inbox
	thread  string // id of a post with replies; scenarios add none
	busy    string // id of a post to which scenarios add replies
	host    *agent // has a full history and guestbook
	kilo    int    // characters of the largest body whose item has at most 1 KB
}

// furnish makes agents register and write, and lets the stream's readers catch up.
func (w *world) furnish(ctx context.Context) error {
	at := w.app.Now()
	next := func() time.Time { at = at.Add(tick); return at }
	var err error
	for range 8 {
		a, err := w.register(next())
		if err != nil {
			return err
		}
		w.authors = append(w.authors, a)
	}
	if w.ada, err = w.register(next()); err != nil {
		return err
	}
	n := 0
	write := func(by *agent, channel, parent string) (string, error) {
		n++
		return w.post(next(), by, channel, body(n, usual), parent)
	}
	for i := range pageSize + 10 {
		if _, err := write(w.authors[i%len(w.authors)], pageChannel, ""); err != nil {
			return err
		}
	}
	if w.thread, err = write(w.ada, threadIn, ""); err != nil {
		return err
	}
	if w.busy, err = write(w.ada, busyIn, ""); err != nil {
		return err
	}
	for i := range pageSize + 5 {
		parent, channel := w.busy, busyIn
		if i < replies {
			parent, channel = w.thread, threadIn
		}
		if _, err := write(w.authors[i%len(w.authors)], channel, parent); err != nil {
			return err
		}
	}
	if err := w.weigh(ctx, next()); err != nil {
		return err
	}
	return w.drain(ctx)
}

// weigh sets w.kilo.
func (w *world) weigh(ctx context.Context, at time.Time) error {
	const some = 500
	post, err := w.post(at, w.authors[0], writeTo, body(0, some), "")
	if err != nil {
		return err
	}
	items, err := w.feed.Get(ctx, tables.Strong, tables.PostKey(writeTo, post))
	if err != nil {
		return err
	}
	w.kilo = some + 1024 - items[0].Size()
	return nil
}

// post posts, or replies if parent is not empty.
func (w *world) post(at time.Time, by *agent, channel, text, parent string) (id string, err error) {
	var out struct{ ID string }
	err = w.ask(at, posting(by, channel, text, parent), 201, &out)
	return out.ID, err
}

func posting(by *agent, channel, text, parent string) request {
	in := map[string]string{"body": text}
	if parent != "" {
		in["parent"] = parent
	}
	return request{route: "POST /v1/c/{ch}/posts", path: "/v1/c/" + channel + "/posts", by: by, body: encode(in)}
}

// body returns ASCII text of the given size, different for each n.
func body(n, size int) string {
	const words = "the quick brown fox jumps over the lazy dog and writes it down for others to read "
	s := fmt.Sprintf("note %07d: %s", n, strings.Repeat(words, size/len(words)+1))
	return s[:size-1] + "."
}
