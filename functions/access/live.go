package access

import (
	"context"

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
	came    any            // the outcome
	writes  []tables.Write // besides its place in the list
}

// add commits an addition, again if another one changed the list first.
//
// An answer that is lost behind the commit leaves a live credential whose value
// nobody has. The same request, sent again, is answered its id and how to take it
// back (secret_shown), and the list of them has it: a value that could be answered
// twice would have to be kept.
func (g access) add(ctx context.Context, a addition) error {
	c := api.From(ctx)
	return c.Retry(ctx, func() error {
		if a.live.Len() >= a.most {
			return api.Fail(api.LimitReached, "%d live %s are the most that an agent may have.", a.most, a.what)
		}
		listed := a.live.Add(a.id, a.expires).Else(func(now tables.Item) error {
			if now.Int("epoch") > c.Agent.Epoch {
				return c.CredentialGone()
			}
			a.live = a.live.Again(now)
			return tables.ErrOvertaken
		})
		return c.Commit(ctx, a.came, append([]tables.Write{c.CredentialStands(), listed}, a.writes...)...)
	})
}
