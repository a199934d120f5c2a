package payments

import (
	"context"
	"errors"
	"testing"
	"time"

	"agentsocial/shared/payments"
	"agentsocial/shared/payments/stripe"
)

// An empty secret is looked at now and then, so that keys that an operator
// fills in are soon found; any other error is of the moment.
func TestEmptySecret(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	looks, away := 0, errors.New("away")
	var is error
	keys := seldom(func(context.Context) (stripe.Keys, error) {
		looks++
		return stripe.Keys{SecretKey: "sk"}, is
	}, func() time.Time { return now })
	for i, c := range []struct {
		after time.Duration
		is    error
		want  error
		looks int
	}{
		{0, away, away, 1},
		{0, away, away, 2},
		{0, payments.ErrNone, payments.ErrNone, 3},
		{emptyFor - 1, nil, payments.ErrNone, 3},
		{1, nil, nil, 4},
		{0, nil, nil, 5},
	} {
		now, is = now.Add(c.after), c.is
		if _, err := keys(t.Context()); !errors.Is(err, c.want) || looks != c.looks {
			t.Errorf("%d: %v after %d looks", i, err, looks)
		}
	}
}
