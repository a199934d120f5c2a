package self

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Pages of a mapped file are not counted, though they are in memory.
func TestMemoryOfMappedFile(t *testing.T) {
	const size = 64 << 20
	name := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(mapped)
	before, sum := Memory(), 0
	for i := 0; i < size; i += os.Getpagesize() {
		sum += int(mapped[i])
	}
	if got := Memory() - before; sum != 0 || got > size/4 {
		t.Errorf("got %d more bytes in memory after %d of a mapped file were read, want about none", got, size)
	}
}
