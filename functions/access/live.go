package access

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/tables"
)

// addition is a token or a link code to add to the agent's list of live tokens or link
// codes.
type addition struct {
	live    tables.Live // as read
	most    int
	full    string // message of the refusal if the list is full
	id      string
	expires int64          // unix ms; 0: never
	outcome any            // of the request
	writes  []tables.Write // besides its place in the list
}

// add commits an addition. It retries if the list has changed since it was read.
//
// If the answer is lost after the commit, there is a live credential whose value
// nobody has, because values are not stored. If the request is sent again, the answer
// has the credential's id, and secret_shown is true. For a token, it also says how to
// revoke it.
func (g access) add(ctx context.Context, a addition) error {
	c := api.From(ctx)
	return c.Retry(ctx, func() error {
		if a.live.Len() >= a.most {
			return api.Fail(api.LimitReached, "%s", a.full)
		}
		listed := a.live.Add(a.id, a.expires).Else(func(now tables.Item) error {
			if now.Int("epoch") > c.Agent.Epoch {
				return c.CredentialGone()
			}
			a.live = a.live.Again(now)
			return tables.ErrOvertaken
		})
		return c.Commit(ctx, a.outcome, append([]tables.Write{c.CredentialStands(), listed}, a.writes...)...)
	})
}
