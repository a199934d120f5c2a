package tally

import (
	"testing"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// TestVoucher checks that a vote vouches only if the voter still has the owner that it
// had when it voted. A vote stored without Behind does not name that owner.
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
		"another owner, although verified before the vote": {other, cast - 1, ""},
		"an older vote": {"", cast - 1, mine},
		"an older vote, and an origin verified at the same time": {"", cast, mine},
		"an older vote, and an origin verified later on":         {"", cast + 1, ""},
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

// TestVoucher_OlderVotes checks votes stored without Behind. The owner's address must
// have been verified by the time of the vote. An owner vouches once, and not for its own
// agent.
func TestVoucher_OlderVotes(t *testing.T) {
	for name, c := range map[string]struct {
		worth, verified int64
		vouches, person string
		vouched         bool
		want            bool
	}{
		"verified at the vote":         {1, 100, jury.VouchesAsOwner, "voter", false, true},
		"verified later":               {1, 101, jury.VouchesAsOwner, "voter", false, false},
		"worth nothing":                {0, 100, jury.VouchesAsOwner, "voter", false, false},
		"does not vouch":               {1, 100, "", "voter", false, false},
		"by an agent without an owner": {1, 100, jury.VouchesAsOwner, "", false, false},
		"of the author's owner":        {1, 100, jury.VouchesAsOwner, "author", false, false},
		"again":                        {1, 100, jury.VouchesAsOwner, "voter", true, false},
		"an operator's":                {1, 101, jury.VouchesAsOperator, "", false, true},
	} {
		v := &tables.Vote{By: "ag_voter", V: 1, At: 100, Worth: c.worth, Vouches: c.vouches}
		g := &giver{origin: tables.Origin{Agent: v.By, Person: c.person, VerifiedAt: c.verified}}
		author := tables.Origin{Person: "author"}
		tl := &tally{to: "ag_author", owner: author.Owner(), givers: map[string]*giver{v.By: g}}
		if c.vouched {
			tl.vouched = []string{tables.Pseudonym(g.origin.Owner(), tl.to)}
		}
		if got := tl.voucher(v, 3); (got != "") != c.want {
			t.Errorf("%s: got voucher %q, want a voucher = %t", name, got, c.want)
		}
	}
}

// TestTimes checks that the marker of a post's first removal has no number. Markers from
// before posts could be put back have none.
func TestTimes(t *testing.T) {
	for restored, want := range map[int64]string{0: "", 1: "1", 2: "2"} {
		if got := times(restored); got != want {
			t.Errorf("times(%d) = %q, want %q", restored, got, want)
		}
	}
}
