package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
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

// SetReaders declares the feed's readers. From then on a change stays in the feed until
// each of them has stored the change's position or a later one, however long that takes.
// Soon afterwards the change is removed. Without declared readers the feed keeps changes for
// 24 hours. A reader without a position begins at the oldest change left. The positions of
// readers that names lacks are forgotten.
func (t *Table) SetReaders(ctx context.Context, names []string) error {
	names = slices.Clone(names) // as in SetCheckpoints
	var refusal error
	err := t.run(ctx, func(s *state) error {
		fresh := map[string]string{}
		for _, reader := range names {
			fresh[reader] = beginning
		}
		if refusal = checkCheckpoints(fresh, s.lastSeq()); refusal != nil {
			return nil
		}
		for _, reader := range s.checkpoints.firstKeys("", beyond, math.MaxInt) {
			if _, ok := fresh[reader]; ok {
				delete(fresh, reader)
			} else if err := s.checkpoints.remove(reader); err != nil {
				return err
			}
		}
		for reader, seq := range fresh {
			if err := s.checkpoints.put(reader, seq); err != nil {
				return err
			}
		}
		t.trims.Store(len(names) > 0)
		return nil
	})
	return errors.Join(err, refusal)
}

// SetWanted declares which changes readers read. From then on other changes do not enter the
// feed. A reader that later wants more kinds of changes gets those that are made after the
// new declaration. wants must be quick, and must not change its record, which has no position
// and no time yet.
func (t *Table) SetWanted(wants func(tables.StreamRecord) bool) { t.wants.Store(&wants) }

// beginning is the position of a reader that has read nothing.
var beginning = fmt.Sprintf("%0*d", seqDigits, 0)

// trimEach bounds the changes that are removed when positions are stored. Usually fewer
// have come since the last time.
const trimEach = 4096

// SetCheckpoints implements [tables.Checkpoints]. It removes changes that all declared
// readers have passed ([Table.SetReaders]).
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
		_, err := s.trimPassed(trimEach)
		return err
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
