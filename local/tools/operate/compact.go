package main

import (
	"context"
	"errors"

	"agentsocial/tables/embedded"
)

// compact shrinks the embedded table's file. The service does so itself when it stops, if
// more than half of the file and at least 16 MiB are unused.
func compact(_ context.Context, j job) error {
	t, ok := j.Backend.(*embedded.Table)
	if !ok {
		return errors.New("only the embedded table has a file to compact (TABLE=embedded)")
	}
	before, after, err := t.CloseCompacted()
	if err != nil {
		return err
	}
	j.say("compacted   from %.1f MB to %.1f MB", float64(before)/1e6, float64(after)/1e6)
	return nil
}
