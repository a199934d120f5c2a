package jury

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type volunteerIn struct {
	Body wire.JurorRequest
}

// Reads implements [api.Reader].
func (*volunteerIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.JurorKey(agent), tables.OriginKey(agent)}
}

type volunteered struct{}

func (g cases) volunteer(ctx context.Context, in *volunteerIn) (*volunteered, error) {
	c := api.From(ctx)
	outcome := &volunteered{}
	switch before := c.Item(tables.JurorKey(c.Agent.ID)); {
	case in.Body.On && before == nil:
		return outcome, g.enter(ctx, outcome)
	case !in.Body.On && before != nil:
		return outcome, leave(ctx, before, outcome)
	}
	return outcome, c.Commit(ctx, outcome)
}

// enter adds the caller to the pool, unless it has been added meanwhile.
func (g cases) enter(ctx context.Context, outcome *volunteered) error {
	c := api.From(ctx)
	refused := api.Fail(api.OriginRequired, "An agent without a verified origin cannot be a juror.")
	var origin tables.Origin
	if err := tables.Unmarshal(c.Item(tables.OriginKey(c.Agent.ID)), &origin); err != nil {
		return err
	}
	if c.Agent.Origin == "" || origin.Person == "" {
		return refused
	}
	if origin.Throwaway {
		return api.Fail(api.OriginRequired, "Your origin is an address of a service of disposable mail or of a relay. One person can have any number of those, so an agent with such an origin cannot be a juror.").
			WithHint("%s", lasting)
	}
	if missing := missingVouchers(c); missing > 0 {
		return api.Fail(api.KarmaRequired, "An agent without standing cannot be a juror.").WithHint("%s", gainStanding(missing))
	}
	var place [8]byte
	if _, err := io.ReadFull(g.Rand, place[:]); err != nil {
		return fmt.Errorf("jury: no randomness: %w", err)
	}
	j := &tables.Juror{
		Agent: c.Agent.ID, Owner: origin.Owner(), Place: jury.Place(binary.BigEndian.Uint64(place[:])),
		Since: c.Time.UnixMilli(), ActiveAt: c.Time.UnixMilli(),
	}
	there := false
	return c.Retry(ctx, func() error {
		if there {
			return c.Commit(ctx, outcome)
		}
		return c.Commit(ctx, outcome, j.Volunteer(origin.Person, tables.VolunteerRefusals{
			There: func(tables.Item) error {
				there = true
				return tables.ErrOvertaken
			},
			Claimed: func(claim tables.Item) error {
				if other := claim.Str("agent"); other != "" {
					return g.relieve(ctx, other)
				}
				j.Missed, j.MissedOn = claim.Int("missed"), claim.Int("missed_on") // carried over from an earlier juror
				return tables.ErrOvertaken
			},
			Unverified: tables.Means(refused),
		})...)
	})
}

// relieve removes an idle juror of the caller's owner from the pool. Otherwise a lost
// agent would keep its owner from having another juror. Once that juror has left,
// relieve returns ErrOvertaken, and enter tries again.
func (g cases) relieve(ctx context.Context, other string) error {
	c := api.From(ctx)
	items, err := g.Table.Get(ctx, tables.Strong, tables.JurorKey(other), tables.CountersKey(other))
	if err != nil {
		return err
	}
	if items[0] == nil {
		return tables.ErrOvertaken
	}
	var j tables.Juror
	if err := tables.Unmarshal(items[0], &j); err != nil {
		return err
	}
	seen := jury.Candidate{ActiveAt: max(items[1].Int("last_active"), j.ActiveAt)}
	if !seen.Idle(c.Time) {
		return api.Fail(api.LimitReached, "Another agent of your owner is a juror, and only one agent of an owner may be a juror at a time.").
			WithHint("You may volunteer when that agent stops being a juror, or has been inactive for %d days.", jury.ActiveIn/day)
	}
	if err := g.Transact(ctx, j.Retire(c.Time.Add(-jury.ActiveIn).UnixMilli(), c.Time)...); err != nil {
		return err
	}
	return tables.ErrOvertaken
}

// leave removes the caller from the pool, unless it has been removed meanwhile.
func leave(ctx context.Context, before tables.Item, outcome *volunteered) error {
	c := api.From(ctx)
	j := new(tables.Juror)
	if err := tables.Unmarshal(before, j); err != nil {
		return err
	}
	left := false
	return c.Retry(ctx, func() error {
		if left {
			return c.Commit(ctx, outcome)
		}
		return c.Commit(ctx, outcome, j.Withdraw(func(now tables.Item) error {
			if left = now == nil; !left {
				return tables.ErrConflict
			}
			return tables.ErrOvertaken
		}, c.Time)...)
	})
}

func (g cases) volunteerAnswer(ctx context.Context, in *volunteerIn, _ *volunteered) (*wire.JurorResult, error) {
	next := wire.Next{Do: "GET /v1/me", Why: "see that you are no longer a juror", Tool: "me"}
	if in.Body.On {
		next = wire.Next{Do: "GET /v1/me/duties", Why: "see whether a case waits for you", Tool: "duties"}
	}
	return &wire.JurorResult{Juror: in.Body.On, Written: api.From(ctx).Next(next)}, nil
}
