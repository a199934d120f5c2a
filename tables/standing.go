package tables

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Pseudonym returns 32 characters that stand for an owner ([Origin.Owner]) in the records
// about an agent or a reported item. The same owner has different pseudonyms for
// different agents or items. The records must not name the owner itself, because erasing
// the owner's agents does not find the records.
func Pseudonym(owner, about string) string {
	sum := sha256.Sum256([]byte(owner + "\n" + about))
	return hex.EncodeToString(sum[:16])
}

// VouchSlotsKey is the key of the slots that bound how many agents a giver vouches
// for: [KarmaSlots] with agents in the place of posts.
func VouchSlotsKey(giver string) Key { return Key{QuotaPK(giver), "vouches"} }

// KeepVouches is [KarmaSlots.Keep] for the giver's slots of [VouchSlotsKey].
func (s *KarmaSlots) KeepVouches(giver string) Write { return s.keep(VouchSlotsKey(giver)) }

// AddKarmaOf adds n to an agent's karma, and vouchers to the owners ([Pseudonym]) who
// vouched for it. If there are vouchers, now is stored as the time of the newest.
func AddKarmaOf(agent string, n int64, now time.Time, vouchers ...string) Write {
	w := AddKarma(agent, n)
	if len(vouchers) > 0 {
		w.Updates = append(w.Updates, AddToSet("vouchers", vouchers...), SetAttr("stands_since", now.UnixMilli()))
	}
	return w
}

// Unvouch removes all vouchers of an agent that has another owner now, or none. So the
// agent loses its standing, which is the right to judge cases.
func Unvouch(agent string) Write {
	return Change(CountersKey(agent), RemoveAttr("vouchers"), RemoveAttr("stands_since")).When(ItemExists())
}

// UnvouchBy removes an owner from the vouchers of an agent that now belongs to this owner.
func UnvouchBy(agent, owner string) Write {
	return Change(CountersKey(agent), RemoveFromSet("vouchers", Pseudonym(owner, agent))).When(ItemExists())
}
