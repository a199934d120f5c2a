package embedded

import (
	"context"
	"fmt"

	"agentsocial/tables"
)

// Commit implements [tables.Backend]. Commits are serial, so ErrConflict is only ever
// injected.
func (t *Table) Commit(ctx context.Context, tx tables.Tx) error {
	defer tables.Trip(ctx)()
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := prepare(tx)
	if err != nil {
		return err
	}
	fault := t.fault(KindCommit, func() []tables.Key {
		keys := make([]tables.Key, len(tx.Writes))
		for i, w := range tx.Writes {
			keys[i] = w.Key
		}
		return keys
	})
	switch fault {
	case Conflict:
		return fmt.Errorf("embedded: injected: %w", tables.ErrConflict)
	case Throttled:
		return fmt.Errorf("embedded: injected: %w", tables.ErrThrottled)
	case LostRequest:
		return fmt.Errorf("embedded: injected, before the commit: %w", tables.ErrUnknownOutcome)
	}
	o, err := t.commit(ctx, p)
	if err != nil {
		return err
	}
	tables.Spend(ctx, o.reads, o.writes)
	if fault == LostAnswer {
		return fmt.Errorf("embedded: injected, after the commit: %w", tables.ErrUnknownOutcome)
	}
	return o.err
}

func (t *Table) commit(ctx context.Context, p *prepared) (o outcome, err error) {
	if tables.IsLosable(ctx) {
		select {
		case t.later <- struct{}{}:
			return t.commitLater(ctx, p)
		default:
		}
	}
	err = t.run(ctx, func(s *state) error {
		o, err = s.commit(p)
		return err
	})
	return o, err
}

// laterMost bounds the commits that are answered but not yet made.
const laterMost = 256

// commitLater answers a commit from the newest snapshot, and makes it within about
// [linger]. It removes the commit's entry from t.later.
func (t *Table) commitLater(ctx context.Context, p *prepared) (o outcome, err error) {
	err = t.view(false, func(now *trees) error {
		_, o = (&state{trees: now}).evaluate(p)
		return nil
	})
	if err != nil || o.err != nil {
		<-t.later
		return o, err
	}
	go func() {
		defer func() { <-t.later }()
		// The commit may be lost. If the file fails, other commits return the error.
		_ = t.run(Unhurried(context.WithoutCancel(ctx)), func(s *state) error {
			_, err := s.commit(p)
			return err
		})
	}()
	return o, nil
}

type outcome struct {
	err           error // of this transaction alone, which wrote nothing
	reads, writes float64
}

func refused(err error) outcome { return outcome{err: err} }

// commit makes all of a transaction's writes or none. Its second result is an error that
// may come after some writes; it undoes the whole group of commits.
func (s *state) commit(p *prepared) (outcome, error) {
	if p.token != "" {
		t, known, err := s.token(p.token)
		switch {
		case err != nil:
			return refused(err), nil
		case known && t.digest != p.digest:
			return refused(invalid("the token %q was used with other writes", p.token)), nil
		case known:
			return s.replay(p), nil
		}
	}
	changes, o := s.evaluate(p)
	if o.err != nil {
		return o, nil
	}
	for i := range changes {
		if err := s.apply(&changes[i]); err != nil {
			return outcome{}, err
		}
	}
	if p.token != "" {
		if err := s.rememberToken(p.token, p.digest); err != nil {
			return outcome{}, err
		}
	}
	// Trim more changes than were added, so that the feed shrinks under any load.
	_, err := s.trimPassed(2 * len(changes))
	return o, err
}

// evaluate computes the changes of a transaction, and checks all its conditions. As in
// DynamoDB, an invalid write takes precedence over a failed condition, but a write whose
// own condition failed is not evaluated.
func (s *state) evaluate(p *prepared) ([]change, outcome) {
	changes := make([]change, 0, len(p.writes))
	var reasons []tables.Reason // nil until a condition fails
	size := p.putSize
	var table, all float64
	for i := range p.writes {
		w := &p.writes[i]
		old, err := s.item(w.key)
		if err != nil {
			return nil, refused(err)
		}
		if !tables.HoldAll(w.If, old.item) {
			if reasons == nil {
				reasons = make([]tables.Reason, len(p.writes))
			}
			reasons[i] = tables.Reason{Failed: true, Old: old.item}
			table += tables.TableUnits(old.size, w.put.size, p.transactional)
			continue
		}
		now := w.put
		switch w.Op {
		case tables.OpCheck:
			table += tables.TableUnits(old.size, old.size, true)
			all += tables.TableUnits(old.size, old.size, true)
			continue
		case tables.OpUpdate:
			if now, err = updatedItem(w.Key, old.item, w.Updates); err != nil {
				return nil, refused(err)
			}
			size += now.size
		}
		table += tables.TableUnits(old.size, now.size, p.transactional)
		all += tables.WriteUnits(old.item, now.item, p.transactional)
		if !old.equal(now) {
			changes = append(changes, change{key: w.key, old: old, now: now})
		}
	}
	switch {
	case size > tables.MaxTxSize:
		return nil, refused(invalid("a transaction has %d bytes, more than %d", size, tables.MaxTxSize))
	case reasons != nil:
		return nil, outcome{err: &tables.Cancelled{Reasons: reasons}, writes: table}
	}
	return changes, outcome{writes: all}
}

// replay returns the outcome of a repeated transaction.
func (s *state) replay(p *prepared) outcome {
	sizes := make([]int, len(p.writes))
	for i, w := range p.writes {
		item, err := s.item(w.key)
		if err != nil {
			return refused(err)
		}
		sizes[i] = item.size
	}
	return outcome{reads: tables.ReplayUnits(sizes...)}
}
