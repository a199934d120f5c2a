package self

import (
	"testing"
	"time"
)

func TestSelf(t *testing.T) {
	cpu, memory := CPU(), Memory()
	const more = 64 << 20
	held := make([]byte, more)
	for begun := time.Now(); time.Since(begun) < time.Minute && CPU()-cpu < 20*time.Millisecond; {
		for i := range held {
			held[i]++
		}
	}
	if got := CPU() - cpu; got < 20*time.Millisecond {
		t.Errorf("got %s of CPU time after a minute of work, want at least 20ms", got)
	}
	if got := Memory() - memory; got < more/2 || got > 4*more {
		t.Errorf("got %d more bytes in memory, want about %d", got, more)
	}
	held[0]++
}
