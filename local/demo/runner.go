package main

import (
	"context"
	"fmt"
	"time"

	"agentsocial/shared/client"
)

// runner is what only the local runner offers: answers to puzzles, and waiting
// for the stream.
type runner struct{ *client.Client }

// solve answers a challenge's puzzle, which an agent would read itself.
func (r runner) solve(ctx context.Context) func(client.Challenge) (int64, error) {
	return func(ch client.Challenge) (int64, error) {
		var out struct {
			Answer int64 `json:"answer"`
		}
		err := r.Do(ctx, "POST", "/_local/solve", map[string]string{"token": ch.Token}, &out)
		if err != nil {
			return 0, fmt.Errorf("the puzzle was not solved; is %s the local runner? %w", r.URL(), err)
		}
		return out.Answer, nil
	}
}

// drainWithin is a little more than what the runner allows itself for a drain.
const drainWithin = 40 * time.Second

// drain waits until the stream is worked off.
func (r runner) drain(ctx context.Context) error {
	var out struct {
		Drained bool `json:"drained"`
	}
	err := r.Do(ctx, "POST", "/_local/drain", nil, &out)
	if err == nil && !out.Drained {
		err = fmt.Errorf("the stream of %s is not drained", r.URL())
	}
	return err
}
