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
	Body wire.CaseVoteRequest
}

// Reads implements [api.Reader].
func (in *voteIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.CaseKey(in.ID), tables.SeatKey(in.ID, agent)}
}

type voted struct{ State string } // the case's state after the vote

// vote casts a juror's vote. The vote that settles the verdict also closes the case. Each
// vote requires that the case's version is as read, so concurrent votes take turns.
func (g cases) vote(ctx context.Context, in *voteIn) (*voted, error) {
	c := api.From(ctx)
	if err := api.CheckOptionalText("note", in.Body.Note, noteMost); err != nil {
		return nil, err
	}
	item, seat := c.Item(tables.CaseKey(in.ID)), c.Item(tables.SeatKey(in.ID, c.Agent.ID))
	if item == nil {
		return nil, api.Fail(api.NotFound, "There is no case %q.", in.ID)
	}
	gone := false // set if the reported promo has ended, or the author has deleted the post
	outcome := new(voted)
	err := c.Retry(ctx, func() error {
		b := ballot{in: in, now: c.Time}
		if err := errors.Join(tables.Unmarshal(item, &b.Case), tables.Unmarshal(seat, &b.seat)); err != nil {
			return err
		}
		if err := b.admit(); err != nil {
			return err
		}
		writes := b.writes(&gone, tables.Overtaken(&item), tables.Overtaken(&seat))
		outcome.State = b.State
		return c.Commit(ctx, outcome, writes...)
	})
	if err != nil {
		return nil, err
	}
	c.Counts.Duties--
	return outcome, nil
}

// ballot is a vote being cast.
type ballot struct {
	tables.Case
	in   *voteIn
	seat tables.Seat
	now  time.Time
}

// admit returns an error if the juror may not vote now.
func (b *ballot) admit() error {
	switch b.seat.State {
	case tables.SeatVoted:
		return api.Fail(api.AlreadyVoted, "You have already voted on %s.", b.in.ID)
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

// writes returns the writes of the vote, and those that close the case if the vote
// settles it. changed handles a case that changed meanwhile; left handles a seat that did.
// gone is set if there is no item to remove any more.
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

func stateOf(verdict string) string {
	if verdict == jury.Uphold {
		return tables.CaseUpheld
	}
	return tables.CaseOverturned
}

func (g cases) voteAnswer(ctx context.Context, in *voteIn, outcome *voted) (*wire.CaseVoteResult, error) {
	why := "see the verdict, once the others have voted"
	if outcome.State != tables.CaseVoting && outcome.State != tables.CaseSeating {
		why = "see the verdict, and how the others voted"
	}
	return &wire.CaseVoteResult{Case: in.ID, State: outcome.State, Verdict: in.Body.Verdict, Note: in.Body.Note, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/cases/" + in.ID, Why: why, Tool: "read_case"},
	)}, nil
}
