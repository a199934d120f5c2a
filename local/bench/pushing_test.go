package main

import (
	"io"
	"testing"
)

// TestPushesKeepUp: inbox events are written at no less than a quarter of the
// pace of raw batches, and in a burst to one inbox at no less than half of it.
func TestPushesKeepUp(t *testing.T) {
	var err error
	for range 3 { // others may be using the machine
		if err = runPushes(t.Context(), io.Discard, pushRounds); err == nil {
			return
		}
	}
	t.Error(err)
}
