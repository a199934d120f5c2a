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

// SetReaders declares the feed's readers. From then on, a change stays in the feed until
// each of them has stored a position at or after it. Without declared readers, the feed
// keeps changes for 24 hours. A reader without a position begins at the oldest change left.
// SetReaders forgets the positions of other readers.
func (t *Table) SetReaders(ctx context.Context, names []string) error {
	names = slices.Clone(names)
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

// SetWanted declares which changes enter the feed from then on. wants must be quick, and
// must not change its record, which has no position and no time yet.
func (t *Table) SetWanted(wants func(tables.StreamRecord) bool) { t.wants.Store(&wants) }

// beginning is the position of a reader that has read nothing.
var beginning = fmt.Sprintf("%0*d", seqDigits, 0)

// trimEach bounds the changes that are removed when positions are stored.
const trimEach = 4096

// SetCheckpoints implements [tables.Checkpoints]. It removes changes that all declared
// readers have passed ([Table.SetReaders]).
func (t *Table) SetCheckpoints(ctx context.Context, changed map[string]string) error {
	changed = maps.Clone(changed)
	var refusal error
	err := t.run(ctx, func(s *state) error {
		if refusal = checkCheckpoints(changed, s.lastSeq()); refusal != nil {
			return nil // nothing is written, so nothing need be undone
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
