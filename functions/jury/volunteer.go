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
func (*volunteerIn) Reads(agent string) []tables.Key { return []tables.Key{tables.JurorKey(agent)} }

type volunteerOut struct {
	Juror bool `json:"juror"`
	api.Written
}

func (g cases) volunteer(ctx context.Context, in *volunteerIn) (*volunteerOut, error) {
	c := api.From(ctx)
	refused := api.Fail(api.OriginRequired, "An agent without a verified origin cannot be a juror.")
	if in.Body.On && c.Agent.Origin == "" {
		return nil, refused
	}
	var place [8]byte
	if _, err := io.ReadFull(g.Rand, place[:]); err != nil {
		return nil, fmt.Errorf("jury: no randomness: %w", err)
	}
	j := &tables.Juror{
		Agent: c.Agent.ID, Place: jury.Place(binary.BigEndian.Uint64(place[:])), Since: c.Time.UnixMilli(), ActiveAt: c.Time.UnixMilli(),
	}
	var writes []tables.Write
	switch is := c.Item(tables.JurorKey(c.Agent.ID)) != nil; {
	case in.Body.On && !is:
		writes = j.Volunteer()
	case !in.Body.On && is:
		writes = j.Withdraw()
	}
	err := c.Commit(ctx, nil, writes...)
	var cancelled *tables.Cancelled
	switch {
	case err == nil:
	case !errors.As(err, &cancelled):
		return nil, err
	case cancelled.Reasons[0].Failed: // it is so already
		if err := c.Commit(ctx, nil); err != nil {
			return nil, err
		}
	default:
		return nil, refused
	}
	return volunteerAnswer(c, in), nil
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
