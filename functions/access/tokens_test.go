package access

import (
	"testing"
	"time"

	"agentsocial/shared/wire"
)

// The TTL is the second after the token expires.
func TestToken_Expires(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		days lifetime
		want time.Duration // 0: never
	}{{lifetime{}, 90 * day}, {lifetime{given: true, days: 1}, day}, {lifetime{given: true}, 0}} {
		in := new(mintTokenIn)
		in.Body.NewToken, in.Body.Days = wire.NewToken{Label: "t"}, c.days
		got, err := in.token("tk_1", noon)
		if err != nil {
			t.Fatal(err)
		}
		var expires, ttl int64
		if c.want > 0 {
			expires, ttl = noon.Add(c.want).UnixMilli(), noon.Add(c.want).Unix()+1
		}
		if shown := tokenOf(got).ExpiresAt; got.ExpiresAt != expires || got.TTL != ttl || (shown != nil) != (expires != 0) {
			t.Errorf("token with days %+v: got expiry %d, TTL %d, expiry shown %t; want %d, %d, %t", c.days, got.ExpiresAt, got.TTL, shown != nil, expires, ttl, expires != 0)
		}
	}
}
