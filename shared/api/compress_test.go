package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/shared/app"
)

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "x-gzip": true, "br": false, "deflate, gzip;q=0.5": true, "*": true, "identity": false,
		"gzip;q=0": false, "gzip; q=0.0": false, "gzip;q=0.001": true, "*;q=0": false, "br, *;q=0.1": true,
		"*, gzip;q=0": false, "gzip;q=0, *": false, "gzipped": false,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("acceptsGzip(%q) = %v, want %v", header, got, want)
		}
	}
	if !acceptsGzip([]string{"br", "gzip"}) {
		t.Error("acceptsGzip of the headers br and gzip = false, want true")
	}
}

// answers returns a server with an endpoint for each kind of answer.
func answers(log io.Writer) *Server {
	a := &app.App{Now: func() time.Time { return time.UnixMilli(1_790_000_000_000) }, Log: slog.New(slog.NewJSONHandler(log, nil)), Settings: app.DefaultSettings()}
	a.Rand = rand.NewChaCha8([32]byte{})
	type nothing struct{}
	page := func(e Endpoint, contentType, body string) Endpoint {
		e.Foreign.Answers = []string{contentType}
		return OnPage(e, func(context.Context, *nothing) (*Page, error) {
			return &Page{ContentType: contentType, Body: []byte(body)}, nil
		})
	}
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(' ' + rand.IntN(95)) // does not compress
	}
	text := strings.Repeat("a word, another word; ", 100)
	return NewServer(a, Group{Name: "test", Endpoints: []Endpoint{
		page(Endpoint{Route: "GET /public", Cache: time.Minute}, "text/plain; charset=utf-8", text),
		page(Endpoint{Route: "GET /long", Cache: time.Minute}, "application/json", strings.Repeat(text, 10)),
		page(Endpoint{Route: "GET /longest", Cache: time.Minute}, "application/json", strings.Repeat(text, 20)),
		page(Endpoint{Route: "GET /album", Cache: time.Minute}, "image/png", strings.Repeat(text, 20)),
		page(Endpoint{Route: "GET /uncached"}, "application/feed+json", text),
		page(Endpoint{Route: "GET /least", Cache: time.Minute}, "text/plain", text[:compressFrom]),
		page(Endpoint{Route: "GET /short", Cache: time.Minute}, "text/plain", text[:compressFrom-1]),
		page(Endpoint{Route: "GET /secret", Cache: time.Minute, Secret: true}, "text/plain", text),
		page(Endpoint{Route: "GET /picture", Cache: time.Minute}, "image/png", text),
		page(Endpoint{Route: "GET /noise", Cache: time.Minute}, "text/plain", string(noise)),
	}})
}

// A shared cache must ask again for a long answer that could be compressed but is not.
func TestSharedMost(t *testing.T) {
	s := answers(io.Discard)
	const kept, asked = "public, max-age=60", "public, max-age=60, s-maxage=0"
	for path, want := range map[string][2]string{ // with gzip, and without
		"/public": {kept, kept}, "/long": {kept, kept}, "/longest": {kept, asked}, "/album": {kept, kept},
	} {
		for i, encoding := range []string{"gzip", "identity"} {
			if got := get(s, path, "Accept-Encoding", encoding).Header().Get("Cache-Control"); got != want[i] {
				t.Errorf("%s with Accept-Encoding %s: Cache-Control %q, want %q", path, encoding, got, want[i])
			}
		}
	}
	etag := get(s, "/longest").Header().Get("ETag")
	if res := get(s, "/longest", "If-None-Match", etag); res.Code != 304 || res.Header().Get("Cache-Control") != asked {
		t.Errorf("with the current ETag: got %d and Cache-Control %q, want 304 and %q", res.Code, res.Header().Get("Cache-Control"), asked)
	}
}

func get(s *Server, path string, headers ...string) *httptest.ResponseRecorder {
	method := "GET"
	if m, p, ok := strings.Cut(path, " "); ok {
		method, path = m, p
	}
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func unzip(t *testing.T, body []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestCompression(t *testing.T) {
	var log bytes.Buffer
	s := answers(&log)
	for path, want := range map[string]struct{ zipped, vary bool }{
		"/public": {true, true}, "/long": {true, true}, "/uncached": {true, false}, "/least": {true, true},
		"/short": {}, "/secret": {}, "/picture": {}, "/noise": {false, true},
	} {
		plain := get(s, path)
		log.Reset()
		small := get(s, path, "Accept-Encoding", "br, gzip")
		body := small.Body.String()
		if zipped := small.Header().Get("Content-Encoding") == "gzip"; zipped != want.zipped {
			t.Errorf("%s: got compressed %v, want %v", path, zipped, want.zipped)
		} else if zipped {
			body = unzip(t, small.Body.Bytes())
			if small.Body.Len() >= plain.Body.Len() {
				t.Errorf("%s: got %d bytes compressed, want fewer than the %d plain ones", path, small.Body.Len(), plain.Body.Len())
			}
		}
		if plain.Header().Get("Content-Encoding") != "" || body != plain.Body.String() {
			t.Errorf("%s: got encoding %q without gzip, and text %.60q with gzip; want none, and %.60q", path, plain.Header().Get("Content-Encoding"), body, plain.Body)
		}
		if !strings.Contains(log.String(), fmt.Sprintf(`"bytes":%d,`, small.Body.Len())) {
			t.Errorf("%s: the log does not have the %d bytes sent: %s", path, small.Body.Len(), &log)
		}
		for _, w := range []*httptest.ResponseRecorder{plain, small} {
			if vary := strings.Contains(w.Header().Get("Vary"), "Accept-Encoding"); vary != want.vary {
				t.Errorf("%s: Vary = %q, want Accept-Encoding in it: %v", path, w.Header().Get("Vary"), want.vary)
			}
			if w.Header().Get("ETag") != plain.Header().Get("ETag") || w.Header().Get("Content-Type") != plain.Header().Get("Content-Type") {
				t.Errorf("%s: got headers %v, want the ETag and Content-Type of %v", path, w.Header(), plain.Header())
			}
		}
	}
	if a, b := get(s, "/long", "Accept-Encoding", "gzip"), get(s, "/long", "Accept-Encoding", "gzip"); !bytes.Equal(a.Body.Bytes(), b.Body.Bytes()) || len(s.packed.bodies) != 1 {
		t.Errorf("two requests for /long: got equal bytes %v, %d kept answers; want true, 1", bytes.Equal(a.Body.Bytes(), b.Body.Bytes()), len(s.packed.bodies))
	}
}

func TestCompression_NotModified(t *testing.T) {
	s := answers(io.Discard)
	etag := get(s, "/public").Header().Get("ETag")
	if !strings.HasPrefix(etag, `W/"`) {
		t.Errorf("GET /public: ETag = %s, want a weak one", etag)
	}
	for _, has := range []string{etag, strings.TrimPrefix(etag, "W/"), `"other", ` + etag} {
		for _, accept := range []string{"gzip", "identity"} {
			w := get(s, "/public", "Accept-Encoding", accept, "If-None-Match", has)
			if w.Code != http.StatusNotModified || w.Body.Len() != 0 || w.Header().Get("Content-Encoding") != "" || w.Header().Get("ETag") != etag ||
				!strings.Contains(w.Header().Get("Vary"), "Accept-Encoding") {
				t.Errorf("If-None-Match %s, accepting %s: got %d, %d bytes, %v; want 304, no body, no Content-Encoding, the ETag and Vary", has, accept, w.Code, w.Body.Len(), w.Header())
			}
		}
	}
	for _, has := range []string{`W/"other"`, "*"} { // * does not name a version
		if w := get(s, "/public", "Accept-Encoding", "gzip", "If-None-Match", has); w.Code != http.StatusOK {
			t.Errorf("If-None-Match %s: got %d, want 200", has, w.Code)
		}
	}
	w := get(s, "HEAD /public", "Accept-Encoding", "gzip")
	if w.Body.Len() != 0 || w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("ETag") != etag {
		t.Errorf("HEAD: got %d bytes, %v; want none, and encoding gzip and the ETag of GET", w.Body.Len(), w.Header())
	}
}

func TestPacked(t *testing.T) {
	var p packed
	var work sync.WaitGroup
	for i := range 4 * packedMost {
		body := strings.Repeat(fmt.Sprint("body ", i%(2*packedMost)), 50)
		work.Go(func() {
			if got := unzip(t, p.of(sha256.Sum256([]byte(body)), []byte(body))); got != body {
				t.Errorf("of: got %.30q, want %.30q", got, body)
			}
		})
	}
	work.Wait()
	if n := len(p.bodies); n > packedMost {
		t.Errorf("packed keeps %d answers, want at most %d", n, packedMost)
	}
}
