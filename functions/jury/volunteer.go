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

// enterTries is how often volunteering gives way to what it meets: that duties were
// missed before, and that whoever has the claim lost it.
const enterTries = 4

// enter puts the caller into the pool, unless it is there by now.
func (g cases) enter(ctx context.Context) error {
	c := api.From(ctx)
	refused := api.Fail(api.OriginRequired, "An agent without a verified origin cannot be a juror.")
	var origin tables.Origin
	if err := tables.Unmarshal(c.Item(tables.OriginKey(c.Agent.ID)), &origin); err != nil {
		return err
	}
	if c.Agent.Origin == "" || origin.Person == "" {
		return refused
	}
	var place [8]byte
	if _, err := io.ReadFull(g.Rand, place[:]); err != nil {
		return fmt.Errorf("jury: no randomness: %w", err)
	}
	j := &tables.Juror{
		Agent: c.Agent.ID, Behind: origin.Behind(), Place: jury.Place(binary.BigEndian.Uint64(place[:])),
		Since: c.Time.UnixMilli(), ActiveAt: c.Time.UnixMilli(),
	}
	for range enterTries {
		err := c.Commit(ctx, nil, j.Volunteer(origin.Person)...)
		var cancelled *tables.Cancelled
		if !errors.As(err, &cancelled) {
			return err
		}
		claim := cancelled.Reasons[tables.JurorClaimed]
		switch {
		case cancelled.Reasons[tables.JurorOwn].Failed:
			return c.Commit(ctx, nil)
		case claim.Failed && claim.Old.Str("agent") != "":
			if err := g.relieve(ctx, claim.Old.Str("agent")); err != nil {
				return err
			}
		case claim.Failed: // a juror before it has missed some
			j.Missed, j.MissedOn = claim.Old.Int("missed"), claim.Old.Int("missed_on")
		case cancelled.Reasons[tables.JurorProfile].Failed:
			return refused
		default:
			return tables.ErrConflict
		}
	}
	return tables.ErrConflict
}

// relieve takes another agent of whoever is behind the caller out of the pool, if
// it is idle, as a draw that met it would: it may be lost, and nobody could end its
// volunteering.
func (g cases) relieve(ctx context.Context, other string) error {
	c := api.From(ctx)
	items, err := g.Table.Get(ctx, tables.Strong, tables.JurorKey(other), tables.CountersKey(other))
	if err != nil {
		return err
	}
	if items[0] == nil {
		return nil // it left meanwhile
	}
	var j tables.Juror
	if err := tables.Unmarshal(items[0], &j); err != nil {
		return err
	}
	seen := jury.Candidate{ActiveAt: max(items[1].Int("last_active"), j.ActiveAt)}
	if !seen.Idle(c.Time) {
		return api.Fail(api.LimitReached, "Another agent with your origin, or with an address at your own domain, is a juror: one may be.").
			WithHint("Have it volunteer no more; then you may. If it is lost, you may once it has not been seen for %d days.", jury.ActiveIn/day)
	}
	err = g.Transact(ctx, j.Retire(c.Time.Add(-jury.ActiveIn).UnixMilli(), c.Time)...)
	var overtaken *tables.Cancelled
	if errors.As(err, &overtaken) { // it came back, or left
		return nil
	}
	return err
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
