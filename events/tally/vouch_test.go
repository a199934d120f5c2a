package tally

import (
	"testing"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// A vote vouches for the owner whose standing it was cast with, and only while that is
// the voter's owner. An older vote does not say whose standing it was.
func TestVoucher(t *testing.T) {
	const cast = 1_790_000_000_000 // unix ms
	mine, other := tables.Pseudonym("mine", author), tables.Pseudonym("other", author)
	for name, c := range map[string]struct {
		behind   string
		verified int64
		want     string
	}{
		"the same owner": {mine, cast - 1, mine},
		"the same owner, with another address now": {mine, cast + 1, mine},
		"another owner": {other, cast + 1, ""},
		"another owner, whose verification began before the vote": {other, cast - 1, ""},
		"an older vote": {"", cast - 1, mine},
		"an older vote, and an origin verified later on": {"", cast + 1, ""},
	} {
		v := &tables.Vote{By: "ag_b", V: 1, Worth: 1, At: cast, Vouches: jury.VouchesAsOwner, Behind: c.behind}
		tl := &tally{to: author, owner: "the author's", givers: map[string]*giver{
			"ag_b": {origin: tables.Origin{Person: "mine", VerifiedAt: c.verified}},
		}}
		if got := tl.voucher(v, 3); got != c.want {
			t.Errorf("%s: voucher = %q, want %q", name, got, c.want)
		}
	}
}
