package deadlines

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// Votes and sweeps change the state of a case on condition that its version is as read,
// so no change is applied twice.

// casesAtOnce is one, because the same few agents sit on all juries of a small network.
// Concurrent cases would conflict.
const casesAtOnce = 1

const day = 24 * time.Hour

func (d deadlines) judge(ctx context.Context) error {
	return schedule.Each(ctx, d.App, tables.CasesDue(d.Now(), pageMost), casesAtOnce, d.judgeOne)
}

// judgeOne moves one case as far as possible, unless it has changed meanwhile.
func (d deadlines) judgeOne(ctx context.Context, item tables.Item) error {
	var found tables.Case
	if err := tables.Unmarshal(item, &found); err != nil {
		return err
	}
	if overtaken, err := d.once(ctx, found.Take(d.Now().Add(takeFor))); overtaken || err != nil {
		return err
	}
	err := d.Retry(ctx, func() error {
		for {
			c, err := d.readCase(ctx, found.ID)
			if err != nil {
				return err
			}
			if more, err := d.step(ctx, c); !more || err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("deadlines: the case %s: %w", found.ID, err)
	}
	return nil
}

func (d deadlines) readCase(ctx context.Context, id string) (*tables.Case, error) {
	items, err := d.Table.Get(ctx, tables.Strong, tables.CaseKey(id))
	if err != nil {
		return nil, err
	}
	c := new(tables.Case)
	return c, tables.Unmarshal(items[0], c)
}

// step moves a case to its next state. more reports that another step may follow at
// once.
func (d deadlines) step(ctx context.Context, c *tables.Case) (more bool, err error) {
	now := d.Now()
	over := c.Deadline <= now.UnixMilli()
	switch {
	case !c.Open:
		return false, d.settle(ctx, c)
	case c.State == tables.CaseSeating && over:
		return true, d.close(ctx, c, tables.CaseLapsed)
	case c.State == tables.CaseVoting && over:
		return true, d.count(ctx, c)
	case c.Filled < c.Seats, c.Seats == 0:
		return false, d.seat(ctx, c)
	}
	return false, d.wait(ctx, c, c.Deadline)
}

// wait makes a case due at a time (unix ms), or at its deadline if that is earlier.
func (d deadlines) wait(ctx context.Context, c *tables.Case, until int64) error {
	c.Due = min(until, c.Deadline)
	return d.Once(ctx, c.Keep())
}

// close ends a case. If the case is upheld and is not an appeal, close also removes the
// reported post or promo, unless it is already gone.
func (d deadlines) close(ctx context.Context, c *tables.Case, state string) error {
	read, gone := *c, false
	try := func() error {
		*c = read
		return d.Transact(ctx, c.Close(state, d.Now(), &gone, nil)...)
	}
	err := try()
	if gone {
		err = try()
	}
	return err
}

// count ends the voting with a verdict if enough jurors voted. Otherwise jurors that
// did not vote lose their seats, and new ones are drawn. After [jury.ReseatsMost] new
// draws, the case lapses instead.
func (d deadlines) count(ctx context.Context, c *tables.Case) error {
	switch jury.AtDeadline(c.Uphold, c.Overturn) {
	case jury.Uphold:
		return d.close(ctx, c, tables.CaseUpheld)
	case jury.Overturn:
		return d.close(ctx, c, tables.CaseOverturned)
	}
	if c.Reseats >= jury.ReseatsMost {
		return d.close(ctx, c, tables.CaseLapsed)
	}
	seats, err := d.readSeats(ctx, c)
	if err != nil {
		return err
	}
	now, missed := d.Now(), c.Deadline
	c.Reseats++
	c.Vain = 0
	c.State, c.Seats, c.Filled = tables.CaseSeating, 0, c.Uphold+c.Overturn
	c.Deadline, c.Due = now.Add(jury.SeatingFor).UnixMilli(), now.Add(takeFor).UnixMilli()
	writes := []tables.Write{c.Keep()}
	for _, s := range seats {
		if s.State == tables.SeatWaits {
			writes = append(writes, s.miss(missed, now)...)
		}
	}
	return d.Transact(ctx, writes...)
}

// seated is a seat and its juror, as read.
type seated struct {
	tables.Seat
	juror tables.Juror // zero if it no longer volunteers
}

func (d deadlines) readSeats(ctx context.Context, c *tables.Case) ([]seated, error) {
	if len(c.Jurors) == 0 {
		return nil, nil
	}
	var keys []tables.Key
	for _, agent := range c.Jurors {
		keys = append(keys, tables.SeatKey(c.ID, agent), tables.JurorKey(agent))
	}
	items, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	seats := make([]seated, len(c.Jurors))
	for i := range seats {
		s := &seats[i]
		if err := errors.Join(tables.Unmarshal(items[2*i], &s.Seat), tables.Unmarshal(items[2*i+1], &s.juror)); err != nil {
			return nil, err
		}
	}
	return seats, nil
}

// leave ends a waiting seat and its juror's duty.
func (s *seated) leave(state string) []tables.Write {
	duty := tables.Duty{Agent: s.Juror.ID, Case: s.Case}
	return []tables.Write{s.Leave(state), duty.End(), tables.EndDuty(duty.Agent)}
}

// miss ends the seat of a juror that missed a deadline (unix ms). Too many misses
// remove the juror from the pool. Misses on one day count once, because a juror may sit in
// several cases at the same time.
func (s *seated) miss(deadline int64, now time.Time) []tables.Write {
	writes := s.leave(tables.SeatMissed)
	on := time.UnixMilli(deadline).UTC().Truncate(day).UnixMilli()
	switch {
	case s.juror.Agent == "", s.juror.MissedOn >= on:
		return writes
	case s.juror.Missed+1 >= jury.MissedMost:
		s.juror.MissedOn = on // Dismiss stores it
		return append(writes, s.juror.Dismiss(tables.JurorMissed, now)...)
	}
	return append(writes, s.juror.Miss(on))
}

// serve records that a juror voted, if it still volunteers.
func (s *seated) serve() []tables.Write {
	if s.juror.Agent == "" {
		return nil
	}
	return []tables.Write{s.juror.Serve(s.VotedAt)}
}

// retryAt returns when to look for jurors again.
func retryAt(c *tables.Case, now time.Time) int64 {
	return now.Add(jury.RetryAfter(c.Vain)).UnixMilli()
}
