package dynamodb

import (
	"bytes"
	"sync"
)

// maxTail bounds the kept end of the server's output, which explains failures.
const maxTail = 8 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if extra := len(t.buf) - maxTail; extra > 0 {
		t.buf = append([]byte(nil), t.buf[extra:]...)
	}
	return len(p), nil
}

func (t *tail) Bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.buf)
}

// lastLines returns the end of an output, short enough for an error.
func lastLines(b []byte) []byte {
	const most = 20
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-most):], []byte("\n"))
}
