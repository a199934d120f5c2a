package service

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
)

// survive reports a death even if the goroutine ends at the same moment. Many run at once, so that
// some goroutines end before survive waits for them.
func TestSurvive_DeadAndEnded(t *testing.T) {
	var all sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for range 2000 {
				if _, err := survive(t.Context(), func(ctx context.Context) (int, error) { Die(ctx); return 1, nil }); !errors.Is(err, errDied) {
					t.Errorf("survive of a function that calls Die: got %v, want %v", err, errDied)
					return
				}
			}
		})
	}
	all.Wait()
}
