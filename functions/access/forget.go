package access

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

type forgetIn struct{}

// Reads implements [api.Reader].
func (*forgetIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.OriginKey(agent), tables.PendingOriginKey(agent), tables.JurorKey(agent)}
}

// forgotten is the outcome of forgetting an origin. Its last three fields say what ended
// with the origin.
type forgotten struct{ Forgot, Juror, Standing, Recovery bool }

// forgetOrigin forgets the address of the caller's human, verified or not. It also ends
// the agent's place as a juror, its standing and its recovery. The owner's hash
// ([tables.Origin.Owner]) stays in the records of counted reports. Otherwise a second
// report of a target could count for the same owner.
func (g access) forgetOrigin(ctx context.Context, _ *forgetIn) (*forgotten, error) {
	c := api.From(ctx)
	var origin tables.Origin
	juror, err := tables.JurorOf(c.Item(tables.JurorKey(c.Agent.ID)))
	if err := errors.Join(err, tables.Unmarshal(c.Item(tables.OriginKey(c.Agent.ID)), &origin)); err != nil {
		return nil, err
	}
	missing := func(vouchers []string) int64 {
		return jury.Missing(vouchers, c.Agent.Operator, c.Settings.Limits.StandingOwners)
	}
	outcome := &forgotten{
		Forgot: origin.Person != "" || c.Item(tables.PendingOriginKey(c.Agent.ID)) != nil,
		Juror:  juror != nil, Recovery: origin.Recovery != "",
		Standing: origin.Person != "" && missing(c.Counts.Vouchers) == 0 && missing(nil) > 0,
	}
	changed := tables.Means(tables.ErrConflict)
	forget := c.Agent.ForgetOrigin(&origin, juror, c.Time, func(now tables.Item) error {
		if now.Int("epoch") != c.Agent.Epoch {
			return c.CredentialGone()
		}
		return tables.ErrConflict
	}, changed)
	err = c.Commit(ctx, outcome, append([]tables.Write{c.CredentialStands()}, forget...)...)
	if errors.Is(err, tables.ErrOvertaken) {
		err = tables.ErrConflict
	}
	return outcome, err
}

func (g access) forgetOriginAnswer(ctx context.Context, _ *forgetIn, outcome *forgotten) (*wire.ForgottenOrigin, error) {
	return &wire.ForgottenOrigin{
		Origin: "none", Forgot: outcome.Forgot, EndsJuror: outcome.Juror, EndsStanding: outcome.Standing, EndsMail: outcome.Recovery,
		Written: api.From(ctx).Next(
			wire.Next{Do: "GET /v1/me", Why: "see that you have no origin", Tool: "me"},
			wire.Next{Do: "POST /v1/me/origin", Why: "link another address", Tool: "link_origin", Body: map[string]any{"email": ""}},
		),
	}, nil
}
