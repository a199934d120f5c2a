package jury

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

const noteMost = 1000

type voteIn struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of a case."`
	Body wire.VoteOnCase
}

// Reads besides what authorisation reads.
func (in *voteIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.CaseKey(in.ID), tables.SeatKey(in.ID, agent)}
}

// voted is what came of a vote.
type voted struct{ State string } // of the case, with the vote in it

// vote casts a juror's vote. Whoever's vote leaves nothing to be changed closes
// the case with it: votes that come at once take turns, under the case's version.
func (g cases) vote(ctx context.Context, in *voteIn) (*voted, error) {
	c := api.From(ctx)
	if err := api.CheckOptionalText("note", in.Body.Note, noteMost); err != nil {
		return nil, err
	}
	item, seat := c.Item(tables.CaseKey(in.ID)), c.Item(tables.SeatKey(in.ID, c.Agent.ID))
	if item == nil {
		return nil, api.Fail(api.NotFound, "There is no case %q.", in.ID)
	}
	gone := false // what was reported: a promo ends by itself
	came := new(voted)
	err := c.Retry(ctx, func() error {
		b := ballot{in: in, now: c.Time}
		if err := errors.Join(tables.Unmarshal(item, &b.Case), tables.Unmarshal(seat, &b.seat)); err != nil {
			return err
		}
		if err := b.admit(); err != nil {
			return err
		}
		writes := b.writes(&gone, tables.Overtaken(&item), tables.Overtaken(&seat))
		came.State = b.State
		return c.Commit(ctx, came, writes...)
	})
	if err != nil {
		return nil, err
	}
	c.Counts.Duties--
	return came, nil
}

// ballot is a vote on its way, in the case and the seat that it was cast from.
type ballot struct {
	tables.Case
	in   *voteIn
	seat tables.Seat
	now  time.Time
}

// admit says what stands against the vote.
func (b *ballot) admit() error {
	switch b.seat.State {
	case tables.SeatVoted:
		return api.Fail(api.AlreadyVoted, "You voted on %s before.", b.in.ID)
	case "", tables.SeatLeft, tables.SeatMissed:
		if b.Open {
			return api.Fail(api.NotSeated, "You have no seat on the jury of %s.", b.in.ID)
		}
	}
	switch {
	case !b.Open:
		return api.Fail(api.NotOpen, "The case %s is %s.", b.in.ID, b.State)
	case b.State == tables.CaseVoting && b.Deadline <= b.now.UnixMilli():
		return api.Fail(api.NotOpen, "The deadline of %s was %s.", b.in.ID, time.UnixMilli(b.Deadline).UTC().Format(time.RFC3339))
	}
	return nil
}

// writes of the vote: the case's, the seat's, those of the duty, and what goes
// with the end of the case if this is it. changed and left say what it means that
// the case, or the seat, is another by now; gone that a promo ended by itself.
func (b *ballot) writes(gone *bool, changed, left func(tables.Item) error) []tables.Write {
	b.seat.Verdict, b.seat.Note, b.seat.VotedAt = b.in.Body.Verdict, b.in.Body.Note, b.now.UnixMilli()
	if b.seat.Verdict == jury.Uphold {
		b.Uphold++
	} else {
		b.Overturn++
	}
	duty := tables.Duty{Agent: b.seat.Juror.ID, Case: b.ID}
	cast := []tables.Write{b.seat.Vote().Else(left), duty.End(), tables.EndDuty(duty.Agent)}
	if verdict := jury.Settled(b.Seats, b.Uphold, b.Overturn); verdict != "" {
		return append(b.Close(stateOf(verdict), b.now, gone, changed), cast...)
	}
	return append(cast, b.Keep().Else(changed))
}

// stateOf is what a case becomes by a verdict.
func stateOf(verdict string) string {
	if verdict == jury.Uphold {
		return tables.CaseUpheld
	}
	return tables.CaseOverturned
}

func (g cases) voteAnswer(ctx context.Context, in *voteIn, came *voted) (*wire.VerdictCast, error) {
	why := "see what it comes to, once the others have voted"
	if came.State != tables.CaseVoting && came.State != tables.CaseSeating {
		why = "see what it came to, and how the others voted"
	}
	return &wire.VerdictCast{Case: in.ID, State: came.State, Verdict: in.Body.Verdict, Note: in.Body.Note, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/cases/" + in.ID, Why: why, Tool: "read_case"},
	)}, nil
}
