package api

import (
	"bytes"
	"crypto/sha256"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Answers are compressed here because the gateway compresses nothing, and every byte that
// leaves AWS costs money.
//
// Answers of Secret endpoints are never compressed. An attacker who sees the sizes of
// encrypted answers, and controls part of their text, could otherwise guess a token
// character by character (BREACH, https://breachattack.com).

const (
	// compressFrom is the least size in bytes of an answer that is compressed. A smaller
	// answer fits into one packet with its headers.
	compressFrom = 1024

	// levelOnce compresses a page of posts to a third of its size, at 130 MB a second.
	// levelKept is for answers that a process keeps.
	levelOnce, levelKept = gzip.BestSpeed, gzip.BestCompression

	// SharedMost bounds, in bytes, the compressible answers that a shared cache, such as the
	// edge, may send uncompressed from its store. For a longer answer the cache asks the
	// service, so the gateway's throttle bounds a flood of such requests.
	SharedMost = 32 << 10

	// packedMost bounds how many compressed answers a process keeps. packedFrom is the least
	// uncompressed size in bytes of such an answer.
	packedMost, packedFrom = 64, 8 << 10
)

// compressible reports whether an answer may be compressed for callers that accept gzip. If
// caches may keep it, its Vary names Accept-Encoding for every caller, because a cache may
// give the answer to another caller.
func (rec *recorder) compressible(c *Call) bool {
	return !c.e.Secret && !c.secret.Load() && rec.body.Len() >= compressFrom && isText(rec.header.Get("Content-Type")) &&
		rec.header.Get("Content-Encoding") == ""
}

func isText(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (strings.HasPrefix(media, "text/") || media == "application/json" || strings.HasSuffix(media, "+json"))
}

// acceptsGzip reports whether the lines of an Accept-Encoding header accept gzip (RFC 9110
// 12.5.3).
func acceptsGzip(lines []string) (any bool) {
	for _, line := range lines {
		for part := range strings.SplitSeq(line, ",") {
			coding, weight, _ := strings.Cut(part, ";")
			_, q, _ := strings.Cut(weight, "=")
			accepted := q == "" || strings.Trim(q, " 0.") != ""
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				return accepted
			case "*":
				any = accepted
			}
		}
	}
	return any
}

func (s *Server) compress(rec *recorder, r *http.Request, c *Call) {
	if !rec.compressible(c) || !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return
	}
	var small []byte
	if rec.body.Len() >= packedFrom && (c.e.Cache > 0 || c.e.Foreign.Relays) { // many callers get the same bytes
		small = s.packed.of(rec.digest(), rec.body.Bytes())
	} else {
		small = gzipped(rec.body.Bytes(), &onceWriters)
	}
	if len(small) >= rec.body.Len() {
		return
	}
	rec.body.Reset()
	rec.body.Write(small)
	rec.header.Set("Content-Encoding", "gzip")
}

// writersOf returns a pool of gzip writers, because each has large tables.
func writersOf(level int) sync.Pool {
	return sync.Pool{New: func() any {
		w, err := gzip.NewWriterLevel(nil, level)
		if err != nil {
			panic(err) // the level is unknown
		}
		return w
	}}
}

var onceWriters, keptWriters = writersOf(levelOnce), writersOf(levelKept)

func gzipped(body []byte, writers *sync.Pool) []byte {
	var out bytes.Buffer
	out.Grow(len(body) / 2)
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	_, _ = w.Write(body) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// packed keeps compressed answers by the hash of their bodies.
type packed struct {
	mu     sync.Mutex
	bodies map[[sha256.Size]byte][]byte
}

// of returns the compressed body, and keeps it. sum is the hash of body.
func (p *packed) of(sum [sha256.Size]byte, body []byte) []byte {
	p.mu.Lock()
	small := p.bodies[sum]
	p.mu.Unlock()
	if small != nil {
		return small
	}
	small = gzipped(body, &keptWriters)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bodies == nil || len(p.bodies) >= packedMost { // start over: answers in demand soon return
		p.bodies = map[[sha256.Size]byte][]byte{}
	}
	p.bodies[sum] = small
	return small
}
