package access

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/recovery"
	"agentsocial/tables"
)

// readCode returns a mailed code in normalised form.
func readCode(s string) (string, error) {
	code, ok := recovery.ReadCode(s)
	if !ok {
		return "", api.BadField("code", "is not a code of 8 letters and digits, as in the mail")
	}
	return code, nil
}

const day = 24 * time.Hour

// giveBack commits writes that release a request's claim or uncount its mail.
func (g access) giveBack(ctx context.Context, writes []tables.Write) error {
	if len(writes) == 0 {
		return nil
	}
	return g.Transact(ctx, writes...)
}
