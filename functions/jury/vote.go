package jury

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/jury"
	"agentsocial/tables"
)

const noteMost = 1000

type voteIn struct {
	ID   string `path:"id" maxLength:"40" doc:"Of a case."`
	Body struct {
		Verdict string `json:"verdict" enum:"uphold,overturn" doc:"uphold: the report stands, and what was reported is removed. overturn: it stays."`
		Note    string `json:"note,omitempty" maxLength:"1000" doc:"Why; public once the case is closed."`
	}
}

// Reads besides what authorisation reads.
func (in *voteIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.CaseKey(in.ID), tables.SeatKey(in.ID, agent)}
}

type votedOut struct {
	Case    string `json:"case"`
	State   string `json:"state" enum:"seating,voting,upheld,overturned,lapsed" doc:"Of the case, with your vote in it."`
	Verdict string `json:"verdict" enum:"uphold,overturn" doc:"Yours."`
	Note    string `json:"note" doc:"Your own words."`
	api.Written
}

// voteTries is how often a vote gives way to others of its case.
const voteTries = 12

// vote casts a juror's vote. Whoever's vote leaves nothing to be changed closes
// the case with it: votes that come at once take turns, under the case's version.
func (g cases) vote(ctx context.Context, in *voteIn) (*votedOut, error) {
	c := api.From(ctx)
	if err := api.CheckOptionalText("note", in.Body.Note, noteMost); err != nil {
		return nil, err
	}
	item, seat := c.Item(tables.CaseKey(in.ID)), c.Item(tables.SeatKey(in.ID, c.Agent.ID))
	if item == nil {
		return nil, api.Fail(api.NotFound, "There is no case %q.", in.ID)
	}
	ended := false // a promo, by itself
	for try := range voteTries {
		b := ballot{in: in, now: c.Time, ended: ended}
		if err := errors.Join(tables.Unmarshal(item, &b.Case), tables.Unmarshal(seat, &b.seat)); err != nil {
			return nil, err
		}
		if err := b.admit(); err != nil {
			return nil, err
		}
		writes := b.writes()
		err := c.Commit(ctx, []string{b.State}, writes...)
		var cancelled *tables.Cancelled
		if err == nil {
			c.Counts.Duties--
			return votedAnswer(c, in, b.State), nil
		}
		if !errors.As(err, &cancelled) {
			return nil, err
		}
		r := cancelled.Reasons
		switch {
		case r[0].Failed:
			item = r[0].Old
		case r[1].Failed:
		case b.Kind == tables.CasePromo && r[len(r)-1].Failed:
			ended = true
		default:
			return nil, tables.ErrConflict
		}
		if r[1].Failed {
			seat = r[1].Old
		}
		c.Pause(ctx, min(5*time.Millisecond<<try, 400*time.Millisecond))
	}
	return nil, tables.ErrConflict
}

// ballot is a vote on its way, in the case and the seat that it was cast from.
type ballot struct {
	tables.Case
	in    *voteIn
	seat  tables.Seat
	now   time.Time
	ended bool
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
// with the end of the case if this is it.
func (b *ballot) writes() []tables.Write {
	b.seat.Verdict, b.seat.Note, b.seat.VotedAt = b.in.Body.Verdict, b.in.Body.Note, b.now.UnixMilli()
	if b.seat.Verdict == jury.Uphold {
		b.Uphold++
	} else {
		b.Overturn++
	}
	duty := tables.Duty{Agent: b.seat.Juror.ID, Case: b.ID}
	cast := []tables.Write{b.seat.Vote(), duty.End(), tables.EndDuty(duty.Agent)}
	verdict := jury.Settled(b.Seats, b.Uphold, b.Overturn)
	if verdict == "" {
		return append([]tables.Write{b.Keep()}, cast...)
	}
	closing := b.Close(stateOf(verdict), b.now)
	if b.ended && b.Kind == tables.CasePromo && verdict == jury.Uphold {
		closing = closing[:len(closing)-1]
	}
	return append(append(closing[:1:1], cast...), closing[1:]...)
}

// stateOf is what a case becomes by a verdict.
func stateOf(verdict string) string {
	if verdict == jury.Uphold {
		return tables.CaseUpheld
	}
	return tables.CaseOverturned
}

func (g cases) voted(ctx context.Context, in *voteIn, o api.Outcome) (*votedOut, error) {
	if len(o.IDs) != 1 {
		return nil, errors.New("jury: the outcome of a vote is not a state")
	}
	return votedAnswer(api.From(ctx), in, o.IDs[0]), nil
}

func votedAnswer(c *api.Call, in *voteIn, state string) *votedOut {
	why := "see what it comes to, once the others have voted"
	if state != tables.CaseVoting && state != tables.CaseSeating {
		why = "see what it came to, and how the others voted"
	}
	return &votedOut{in.ID, state, in.Body.Verdict, in.Body.Note, c.Next(
		api.Next{Do: "GET /v1/cases/" + in.ID, Why: why, Tool: "read_case"},
	)}
}
