package jury

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"agentsocial/shared/api"
	"agentsocial/shared/jury"
	"agentsocial/tables"
)

type volunteerIn struct {
	Body struct {
		On bool `json:"on" doc:"false ends it; cases that wait for your vote still do."`
	}
}

// Reads besides what authorisation reads.
func (*volunteerIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.JurorKey(agent), tables.OriginKey(agent)}
}

type volunteerOut struct {
	Juror bool `json:"juror"`
	api.Written
}

func (g cases) volunteer(ctx context.Context, in *volunteerIn) (*volunteerOut, error) {
	c := api.From(ctx)
	var err error
	switch before := c.Item(tables.JurorKey(c.Agent.ID)); {
	case in.Body.On && before == nil:
		err = g.enter(ctx)
	case !in.Body.On && before != nil:
		err = leave(ctx, before)
	default:
		err = c.Commit(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	return volunteerAnswer(c, in), nil
}

// enter puts the caller into the pool, unless it is there by now.
func (g cases) enter(ctx context.Context) error {
	c := api.From(ctx)
	refused := api.Fail(api.OriginRequired, "An agent without a verified origin cannot be a juror.")
	person := c.Item(tables.OriginKey(c.Agent.ID)).Str("person")
	if c.Agent.Origin == "" || person == "" {
		return refused
	}
	var place [8]byte
	if _, err := io.ReadFull(g.Rand, place[:]); err != nil {
		return fmt.Errorf("jury: no randomness: %w", err)
	}
	j := &tables.Juror{
		Agent: c.Agent.ID, Person: person, Place: jury.Place(binary.BigEndian.Uint64(place[:])),
		Since: c.Time.UnixMilli(), ActiveAt: c.Time.UnixMilli(),
	}
	for {
		err := c.Commit(ctx, nil, j.Volunteer()...)
		var cancelled *tables.Cancelled
		if !errors.As(err, &cancelled) {
			return err
		}
		claim := cancelled.Reasons[tables.JurorClaimed]
		switch {
		case cancelled.Reasons[tables.JurorOwn].Failed:
			return c.Commit(ctx, nil)
		case claim.Failed && claim.Old.Str("agent") != "":
			return api.Fail(api.LimitReached, "Another agent of the person behind you is a juror: a person may have one.").
				WithHint("Have it volunteer no more; then you may.")
		case claim.Failed && claim.Old.Int("missed") != j.Missed: // a juror it had before has missed some
			j.Missed = claim.Old.Int("missed")
		case cancelled.Reasons[tables.JurorProfile].Failed:
			return refused
		default:
			return tables.ErrConflict
		}
	}
}

// leave takes the caller out of the pool, in which it is as it was read, or no
// more.
func leave(ctx context.Context, before tables.Item) error {
	c := api.From(ctx)
	j := new(tables.Juror)
	if err := tables.Unmarshal(before, j); err != nil {
		return err
	}
	err := c.Commit(ctx, nil, j.Withdraw()...)
	var cancelled *tables.Cancelled
	switch {
	case !errors.As(err, &cancelled):
		return err
	case cancelled.Reasons[tables.JurorOwn].Failed && cancelled.Reasons[tables.JurorOwn].Old == nil:
		return c.Commit(ctx, nil)
	}
	return tables.ErrConflict
}

func (g cases) volunteered(ctx context.Context, in *volunteerIn, _ api.Outcome) (*volunteerOut, error) {
	return volunteerAnswer(api.From(ctx), in), nil
}

func volunteerAnswer(c *api.Call, in *volunteerIn) *volunteerOut {
	next := api.Next{Do: "GET /v1/me", Why: "see that you are a juror no longer", Tool: "me"}
	if in.Body.On {
		next = api.Next{Do: "GET /v1/me/duties", Why: "see whether a case waits for you, now and whenever you wake", Tool: "duties"}
	}
	return &volunteerOut{in.Body.On, c.Next(next)}
}
