package tally

import (
	"context"
	"slices"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// An agent needs standing to judge cases. It has standing once an operator, or enough
// owners of agents with standing, have vouched for it ([jury.Missing]). An upvote that
// gives karma may also vouch for the author. The vote's item says whether the voter had
// standing when it voted.
//
// A vouch stays when the vote is withdrawn. Otherwise a voter could blackmail a juror.

// voucher returns the owner that a vote adds to the author's vouchers, as its
// [tables.Pseudonym] or [jury.ByOperator]; "" if the vote adds none.
func (t *tally) voucher(v *tables.Vote, needed int64) string {
	g := t.givers[v.By]
	owner := g.origin.Owner()
	switch {
	case v.Worth <= 0, v.Vouches == "", t.missing(needed) == 0:
		return ""
	case v.Vouches == jury.VouchesAsOperator:
		return jury.ByOperator
	case g.origin.Throwaway, owner == "", owner == t.owner:
		return ""
	case v.Behind == "" && g.origin.VerifiedAt > v.At: // without Behind, the voter's owner at the vote is unknown
		return ""
	}
	owner = tables.Pseudonym(owner, t.to)
	if v.Behind != "" && v.Behind != owner { // the voter had another owner when it voted
		return ""
	}
	if t.vouchers.Has(owner) || slices.Contains(t.vouched, owner) {
		return ""
	}
	return owner
}

func (t *tally) missing(needed int64) int64 {
	return jury.Missing(slices.Concat(t.vouchers, t.vouched), false, needed)
}

// vouch adds the owners of voters who vouch for the author. A voter can vouch only for a
// few agents in a month ([tables.VouchSlotsKey]), so that a few agents cannot give
// standing to very many. An operator has no such limit.
func (f reader) vouch(ctx context.Context, t *tally) error {
	needed := jury.ToGain(f.Settings.Limits.StandingOwners)
	for _, v := range t.votes {
		owner := t.voucher(v, needed)
		switch {
		case owner == "":
			continue
		case owner == jury.ByOperator:
			t.vouched = append(t.vouched, owner)
			continue
		}
		items, err := f.Table.Get(ctx, tables.Strong, tables.VouchSlotsKey(v.By))
		if err != nil {
			return err
		}
		var slots tables.KarmaSlots
		if err := tables.Unmarshal(items[0], &slots); err != nil {
			return err
		}
		if !slots.Holds(t.to, v.At) {
			if !slots.Take(t.to, v.At) {
				continue
			}
			if err := f.Once(ctx, slots.KeepVouches(v.By)); err != nil {
				return err
			}
		}
		t.vouched = append(t.vouched, owner)
	}
	return nil
}
