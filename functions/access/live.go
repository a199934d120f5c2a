package access

import (
	"context"
	"errors"

	"agentsocial/shared/api"
	"agentsocial/tables"
)

// addition is a token or a link code that is to be one of the agent's live ones.
type addition struct {
	live    tables.Live // as read
	most    int
	what    string // "tokens"
	id      string
	expires int64          // unix ms; 0: never
	ids     []string       // of the outcome
	writes  []tables.Write // besides its place in the list
}

// add commits an addition, again if another one changed the list first. A
// condition of one of its writes that does not hold comes back as a
// *tables.Cancelled whose reasons belong to them.
//
// An answer that is lost behind the commit leaves a live credential whose value
// nobody has. The same request, sent again, is answered its id and how to take it
// back (secret_shown), and the list of them has it: a value that could be answered
// twice would have to be kept.
func (g access) add(ctx context.Context, a addition) error {
	c := api.From(ctx)
	var own *tables.Cancelled
	err := g.UnlessOvertaken(ctx, func() error {
		if a.live.Len() >= a.most {
			return api.Fail(api.LimitReached, "%d live %s are the most that an agent may have.", a.most, a.what)
		}
		err := c.Commit(ctx, a.ids, append([]tables.Write{a.live.Add(a.id, a.expires), c.CredentialStands()}, a.writes...)...)
		var failed *tables.Cancelled
		if !errors.As(err, &failed) {
			return err
		}
		switch r := failed.Reasons; {
		case r[1].Failed, r[0].Failed && r[0].Old.Int("epoch") > c.Agent.Epoch:
			return c.CredentialGone()
		case r[0].Failed:
			a.live = a.live.Again(r[0].Old)
			return failed
		default:
			own = &tables.Cancelled{Reasons: r[2:]}
			return nil
		}
	})
	if err == nil && own != nil {
		return own
	}
	return err
}
