package tables

import "time"

// The humans responsible for agents are known only by keyed hashes. No item holds an
// address, and without the service's pepper nobody can test an address against a hash.

// Origin is the mail address that an agent's human has verified.
type Origin struct {
	Agent      string `db:"agent"`
	Person     string `db:"person"`      // hash of the mailbox: the same for all its addresses
	Domain     string `db:"domain"`      // hash of the address's domain; "" if anybody can get a mailbox there
	Recovery   string `db:"recovery"`    // hash of the address that recovery codes go to, possibly an earlier origin's; "" if none
	VerifiedAt int64  `db:"verified_at"` // unix ms
	Signed     bool   `db:"signed"`      // verified with a signature by one of the agent's keys
	Throwaway  bool   `db:"throwaway"`   // the address was at a service of disposable mail or at a relay; false in older items
}

// Owner returns the hash that stands for the person or organisation responsible for an
// agent: Domain, or Person if Domain is empty. The owner of a domain can have any number
// of addresses there, but must count once.
func (o *Origin) Owner() string {
	if o.Domain != "" {
		return o.Domain
	}
	return o.Person
}

// PendingOrigin is an address whose code the agent has not entered yet.
type PendingOrigin struct {
	ID        string `db:"id"` // of the request
	Person    string `db:"person"`
	Domain    string `db:"domain"`
	Address   string `db:"address"` // hash of the whole address
	Code      string `db:"code"`    // hash of the code that was mailed; "" if the person's [SharedCode] counts
	Tries     int64  `db:"tries,keep"`
	Epoch     int64  `db:"epoch,keep"` // of the credential that asked
	ExpiresAt int64  `db:"expires_at"` // unix ms
	Signed    bool   `db:"signed"`     // requested with a signature by one of the agent's keys
	Throwaway bool   `db:"throwaway"`  // see [Origin]
}

// RecoveryCode is a code mailed to an agent's recovery address ([Origin]).
type RecoveryCode struct {
	ID        string `db:"id"`
	Code      string `db:"code"` // its hash
	Tries     int64  `db:"tries,keep"`
	ExpiresAt int64  `db:"expires_at"` // unix ms
}

// Item types of an origin, of a pending one, and of a recovery code.
const (
	TypeOrigin        = "origin"
	TypePendingOrigin = "pending_origin"
	TypeRecovery      = "recovery"
)

// Keys of an agent's origin, of its pending one, and of its recovery code.
func OriginKey(agent string) Key        { return Key{AgentPK(agent), "ORIGIN"} }
func PendingOriginKey(agent string) Key { return Key{AgentPK(agent), "ORIGIN?"} }
func RecoveryKey(agent string) Key      { return Key{AgentPK(agent), "RECOVERY"} }

// Replace makes o the agent's origin, on condition that the previous one is as
// read.
func (o *Origin) Replace(before *Origin) Write {
	item := keyed(OriginKey(o.Agent), TypeOrigin, Marshal(o))
	if before.VerifiedAt == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("verified_at", before.VerifiedAt))
}

// codeKeep is how long expired codes and the results of used recovery codes are kept.
const codeKeep = time.Hour

// Ask stores a pending address in place of any other. Until an address that was
// requested with a signature expires, only another signed request can replace it.
func (p *PendingOrigin) Ask(agent string, now time.Time) Write {
	item := keyed(PendingOriginKey(agent), TypePendingOrigin, Marshal(p))
	item[AttrTTL] = time.UnixMilli(p.ExpiresAt).Add(codeKeep).Unix()
	if p.Signed {
		item["key_until"] = p.ExpiresAt
		return Put(item)
	}
	return Put(item, AbsentOrBefore("key_until", now.UnixMilli()+1))
}

// Spend deletes the pending address, on condition that it is as read and has
// tries left.
func (p *PendingOrigin) Spend(agent string, tries int64) Write {
	return Delete(PendingOriginKey(agent), Equal("id", p.ID), Before("tries", tries))
}

// Miss counts a wrong code.
func (p *PendingOrigin) Miss(agent string, tries int64) Write {
	return Change(PendingOriginKey(agent), Add("tries", 1)).When(Equal("id", p.ID), Before("tries", tries))
}

// Put makes r the agent's only recovery code.
func (r *RecoveryCode) Put(agent string) Write {
	item := keyed(RecoveryKey(agent), TypeRecovery, Marshal(r))
	item[AttrTTL] = time.UnixMilli(r.ExpiresAt).Add(codeKeep).Unix()
	return Put(item)
}

// Withdraw deletes a code that was not delivered.
func (r *RecoveryCode) Withdraw(agent string) Write {
	return Delete(RecoveryKey(agent), Equal("id", r.ID))
}

// Spend deletes the code, on condition that it is as read and has tries left.
func (r *RecoveryCode) Spend(agent string, tries int64) Write {
	return Delete(RecoveryKey(agent), Equal("id", r.ID), Before("tries", tries))
}

// Miss counts a failed try.
func (r *RecoveryCode) Miss(agent string, tries int64) Write {
	return Change(RecoveryKey(agent), Add("tries", 1)).When(Equal("id", r.ID), Before("tries", tries))
}

// RecoveredKey is the key of a used code's result; code is its hash.
func RecoveredKey(code string) Key { return Key{"N#code#" + code, "SPENT"} }

// Recovered is the result of a recovery, for retries.
type Recovered struct {
	Agent   string `db:"agent"`
	Pub     string `db:"pub"`
	Revoked bool   `db:"revoked"` // other keys and tokens were revoked
	At      int64  `db:"at"`      // unix ms
}

// Once records a recovery, and requires that none with this code was recorded.
func (r *Recovered) Once(code string) Write {
	item := keyed(RecoveredKey(code), TypeSpent, Marshal(r))
	item[AttrTTL] = time.UnixMilli(r.At).Add(codeKeep).Unix()
	return Put(item, NoItem())
}

// HoldFor is how long sensitive actions are refused after a recovery, so that a thief
// of the mailbox gains nothing.
const HoldFor = 72 * time.Hour

// Recover gives an agent a new key, and begins a hold at the time now (unix ms). With
// revoke, the agent's epoch advances, which invalidates every other key, token, link code
// and grant. Without revoke, the agent must have fewer keys than the parameter most.
func (p *Profile) Recover(revoke bool, most, now int64) Write {
	w := p.hold(now)
	if !revoke {
		w.Updates = append(w.Updates, Add("keys", 1))
		return w.When(AbsentOrBefore("keys", most))
	}
	w.Updates = append(w.Updates, SetAttr("epoch", p.Epoch+1), SetAttr("keys", int64(1)))
	return w
}

// Reconnect begins a hold at the time now (unix ms) for a recovery that adds no key, but
// makes a connection.
func (p *Profile) Reconnect(now int64) Write { return p.hold(now) }

// hold begins a hold at a time (unix ms), or extends the current hold, which keeps its
// hold_since. Credentials made before hold_since are free of the hold, and a second
// recovery must not free the credentials of the first.
func (p *Profile) hold(now int64) Write {
	w := Change(ProfileKey(p.ID), Add("version", 1)).When(Equal("epoch", p.Epoch)).When(AbsentOrEqual("hold_until", p.HoldUntil))
	if p.HoldUntil <= now {
		p.HoldSince = now
	}
	p.HoldUntil = now + HoldFor.Milliseconds()
	w.Updates = append(w.Updates, SetAttr("hold_until", p.HoldUntil), SetAttr("hold_since", p.HoldSince))
	return w
}

func flag(attr string, on bool) Update {
	if on {
		return SetAttr(attr, true)
	}
	return RemoveAttr(attr)
}

// OriginPending stores the time (unix ms) until which a code can be entered.
func (p *Profile) OriginPending(until int64) Write {
	return Change(ProfileKey(p.ID), SetAttr("origin_until", until)).When(Equal("epoch", p.Epoch))
}

// ForgetOrigin removes an agent's origin o, its pending address, its recovery code, its
// standing, and its place j in the pool of jurors (nil if it has none). The writes require
// that the profile's epoch, o and j are as read, and that no recovery began. ended returns
// the error for the profile, and changed the error for o and j ([Write.Else]).
func (p *Profile) ForgetOrigin(o *Origin, j *Juror, now time.Time, ended, changed func(Item) error) []Write {
	writes := []Write{
		Change(ProfileKey(p.ID), RemoveAttr("origin"), RemoveAttr("behind"), RemoveAttr("throwaway"), RemoveAttr("recoverable"), RemoveAttr("origin_until"), RemoveAttr("juror")).
			When(Equal("epoch", p.Epoch), AbsentOrEqual("hold_until", p.HoldUntil)).Else(ended),
		Delete(OriginKey(p.ID), AbsentOrEqual("verified_at", o.VerifiedAt)).Else(changed),
		Delete(PendingOriginKey(p.ID)), Delete(RecoveryKey(p.ID)),
	}
	if o.Person != "" { // under its next owner the agent has to gain standing anew
		writes = append(writes, Unvouch(p.ID))
	}
	return append(writes, j.quit(p.ID, changed, now)...)
}

// OriginVerified records that an agent has a verified origin, who its owner is, and
// whether recovery codes can be mailed. If keyless is true, it requires that the
// agent has no key.
func (p *Profile) OriginVerified(o *Origin, recoverable, keyless bool) Write {
	w := Change(ProfileKey(p.ID), SetAttr("origin", "verified"), SetAttr("behind", o.Owner()),
		SetAttr("recoverable", recoverable), RemoveAttr("origin_until"), flag("throwaway", o.Throwaway)).
		When(Equal("epoch", p.Epoch))
	if keyless {
		w = w.When(AbsentOrBefore("keys", 1))
	}
	return w
}
