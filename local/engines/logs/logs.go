// Package logs collects logs in memory.
package logs

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Buffer is a log that can be read while it is written. Its zero value is ready to use.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write appends p.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns what was written since the last call of Take.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Take returns what was written since its last call.
func (b *Buffer) Take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.b.Reset()
	return b.b.String()
}

// Tail keeps the last 8 KB that were written. Its zero value is ready to use.
type Tail struct {
	mu sync.Mutex
	b  []byte
}

// Write appends p.
func (t *Tail) Write(p []byte) (int, error) {
	const most = 8 << 10
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	t.b = slices.Clone(t.b[max(0, len(t.b)-most):])
	return len(p), nil
}

// String returns at most the last 20 lines.
func (t *Tail) String() string {
	const most = 20
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
