package access

import (
	"context"

	"agentsocial/shared/api"
	"agentsocial/tables"
)

// addition is a new token or link code for the list of live ones.
type addition struct {
	live    tables.Live
	most    int
	full    string // message if the list is full
	id      string
	expires int64 // unix ms; 0: never
	outcome any
	writes  []tables.Write // besides the write of the list
}

// add commits an addition. It retries if the list has changed since it was read.
//
// The value of a token or code is not stored. If a request is sent again, its answer has
// the credential's id, but not the value.
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
