package embedded

import (
	"context"
	"maps"
	"math"
	"strconv"

	"agentsocial/tables"
)

var _ tables.Checkpoints = (*Table)(nil)

// Checkpoints implements [tables.Checkpoints].
func (t *Table) Checkpoints(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	err := t.view(false, func(now *trees) error {
		return now.checkpoints.walk("", beyond, false, func(reader, seq string) (bool, error) {
			all[reader] = seq
			return true, ctx.Err()
		})
	})
	return all, err
}

// SetCheckpoints implements [tables.Checkpoints].
func (t *Table) SetCheckpoints(ctx context.Context, changed map[string]string) error {
	changed = maps.Clone(changed) // the committer may read it after ctx has ended
	var refusal error
	err := t.run(ctx, func(s *state) error {
		if refusal = checkCheckpoints(changed, s.lastSeq()); refusal != nil {
			return nil // refused: nothing is written, and nothing undone
		}
		for reader, seq := range changed {
			if err := s.checkpoints.put(reader, seq); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return refusal
}

func checkCheckpoints(changed map[string]string, last uint64) error {
	for reader, seq := range changed {
		n, err := strconv.ParseUint(seq, 10, 64)
		switch {
		case reader == "" || len(reader) > math.MaxUint8:
			return invalid("the reader's name %q is empty or too long", reader)
		case err != nil:
			return invalid("%q is not a sequence number of this feed", seq)
		case n > last:
			return invalid("the position %d of %q is beyond the feed, which ends at %d", n, reader, last)
		}
	}
	return nil
}
