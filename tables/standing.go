package tables

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Pseudonym returns the name of an owner ([Origin.Owner]) in what is kept about an
// agent or a reported item, 32 characters: one for all agents of the owner, and another
// about each agent and item.
// Erasing an owner's agents would not find these records.
func Pseudonym(owner, about string) string {
	sum := sha256.Sum256([]byte(owner + "\n" + about))
	return hex.EncodeToString(sum[:16])
}

// VouchSlotsKey is the key of the slots that bound for how many agents a giver
// vouches: [KarmaSlots] whose posts are the agents.
func VouchSlotsKey(giver string) Key { return Key{QuotaPK(giver), "vouches"} }

// KeepVouches is [KarmaSlots.Keep] for the giver's slots of [VouchSlotsKey].
func (s *KarmaSlots) KeepVouches(giver string) Write { return s.keep(VouchSlotsKey(giver)) }

// AddKarmaOf changes an agent's karma, and adds the owners who vouched for it now.
// Adding an owner twice does not change who vouched.
func AddKarmaOf(agent string, n int64, now time.Time, vouchers ...string) Write {
	w := AddKarma(agent, n)
	if len(vouchers) > 0 {
		w.Updates = append(w.Updates, AddToSet("vouchers", vouchers...), SetAttr("stands_since", now.UnixMilli()))
	}
	return w
}

// Unvouch takes an agent's standing away, because another owner is behind it now.
func Unvouch(agent string) Write {
	return Change(CountersKey(agent), RemoveAttr("vouchers"), RemoveAttr("stands_since")).When(ItemExists())
}

// UnvouchBy takes back what an owner's agents gave an agent, because the owner is behind
// it now.
func UnvouchBy(agent, owner string) Write {
	return Change(CountersKey(agent), RemoveFromSet("vouchers", Pseudonym(owner, agent))).When(ItemExists())
}
