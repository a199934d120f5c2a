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

// Answers are compressed with gzip for callers that accept it, because the gateway (the
// HTTP API) compresses nothing, and every byte that leaves AWS costs money.
//
// Answers of Secret endpoints are never compressed. If they were, an attacker who sees the
// sizes of encrypted answers and controls part of their text could guess a token in them
// character by character. A right guess repeats text of the answer, so the compressed
// answer is shorter (BREACH, https://breachattack.com).

const (
	// compressFrom is the least size in bytes of an answer that is worth compressing. A
	// smaller answer fits into one packet with its headers.
	compressFrom = 1024

	// The fastest level compresses a page of posts to a third of its size, at 130 MB a
	// second on a whole processor. Answers that a process keeps are compressed at the level
	// with the smallest output.
	levelOnce, levelKept = gzip.BestSpeed, gzip.BestCompression

	// SharedMost is the size in bytes up to which a shared cache, such as the edge, may send
	// an uncompressed answer from its store. For a longer one, the cache asks the service
	// each time, so the gateway's throttle bounds a flood of such requests.
	SharedMost = 32 << 10

	// packedMost bounds the compressed answers that a process keeps. packedFrom is the
	// least size in bytes, before compression, of an answer that it keeps.
	packedMost, packedFrom = 64, 8 << 10
)

// compressible reports whether an answer is compressed for callers that accept gzip. If
// such an answer may be cached, its Vary names Accept-Encoding. That holds even if this
// caller does not accept gzip, because a cache may give the answer to another caller.
func (rec *recorder) compressible(c *Call) bool {
	return !c.e.Secret && !c.secret.Load() && rec.body.Len() >= compressFrom && isText(rec.header.Get("Content-Type")) &&
		rec.header.Get("Content-Encoding") == ""
}

// isText reports whether a content type is text, which compresses well.
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

// compress replaces an answer's body with a compressed one if the caller accepts it.
func (s *Server) compress(rec *recorder, r *http.Request, c *Call) {
	if !rec.compressible(c) || !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		return
	}
	var small []byte
	if rec.body.Len() >= packedFrom && (c.e.Cache > 0 || c.e.Foreign.Relays) { // documents, pages that many read, the list of tools
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

// writersOf returns a pool of gzip writers. They are reused because each has large tables.
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

// of returns the compressed body, and keeps it. sum is the body's hash.
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
