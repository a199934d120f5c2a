package tables

import "time"

// Who stands behind an agent is known by keyed hashes alone: nothing here says
// an address, and without the service's pepper nobody can try one.

// Origin is the mail address that an agent's human has proved.
type Origin struct {
	Agent      string `db:"agent"`
	Person     string `db:"person"`      // hash of the address without what lets one mailbox have many
	Domain     string `db:"domain"`      // hash of the address's domain; "" if anybody may have a mailbox there
	Recovery   string `db:"recovery"`    // hash of the address that recovery codes go to; "" if there is none
	VerifiedAt int64  `db:"verified_at"` // unix ms
	Signed     bool   `db:"signed"`      // verified with one of the agent's keys
}

// Owner is who stands behind an agent, where what counts is that one human is
// not many: whose the domain is, who has as many addresses there as it likes, or
// else the person. Of each one agent is a juror at a time.
func (o *Origin) Owner() string {
	if o.Domain != "" {
		return o.Domain
	}
	return o.Person
}

// PendingOrigin is an address that was asked for and waits for its code.
type PendingOrigin struct {
	ID        string `db:"id"` // of this request
	Person    string `db:"person"`
	Domain    string `db:"domain"`
	Address   string `db:"address"` // hash of the whole address
	Code      string `db:"code"`    // hash of the code that was mailed
	Tries     int64  `db:"tries,keep"`
	Epoch     int64  `db:"epoch,keep"` // of the credential that asked
	ExpiresAt int64  `db:"expires_at"` // unix ms
	Signed    bool   `db:"signed"`     // asked for with one of the agent's keys
}

// RecoveryCode is a code that was mailed to an agent's origin.
type RecoveryCode struct {
	ID        string `db:"id"`
	Code      string `db:"code"` // its hash
	Tries     int64  `db:"tries,keep"`
	ExpiresAt int64  `db:"expires_at"` // unix ms
}

// Item types of an origin and of what leads to one.
const (
	TypeOrigin        = "origin"
	TypePendingOrigin = "pending_origin"
	TypeRecovery      = "recovery"
)

// Keys of an agent's origin, of the one that waits for its code, and of a
// recovery's code.
func OriginKey(agent string) Key        { return Key{AgentPK(agent), "ORIGIN"} }
func PendingOriginKey(agent string) Key { return Key{AgentPK(agent), "ORIGIN?"} }
func RecoveryKey(agent string) Key      { return Key{AgentPK(agent), "RECOVERY"} }

// Replace makes o the agent's origin, on the condition that the one before is
// still what was read.
func (o *Origin) Replace(before *Origin) Write {
	item := keyed(OriginKey(o.Agent), TypeOrigin, Marshal(o))
	if before.VerifiedAt == 0 {
		return Put(item, NoItem())
	}
	return Put(item, Equal("verified_at", before.VerifiedAt))
}

// codeKeep is how long a code's item outlives the code.
const codeKeep = time.Hour

// Ask puts the address that waits in the place of any other; but one that was
// asked for with a signature gives way, while it lives, to another such only.
func (p *PendingOrigin) Ask(agent string, now time.Time) Write {
	item := keyed(PendingOriginKey(agent), TypePendingOrigin, Marshal(p))
	item[AttrTTL] = time.UnixMilli(p.ExpiresAt).Add(codeKeep).Unix()
	if p.Signed {
		item["key_until"] = p.ExpiresAt
		return Put(item)
	}
	return Put(item, AbsentOrBefore("key_until", now.UnixMilli()+1))
}

// Spend takes the waiting address away, if it is the one that was read and has
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

// Withdraw takes a code away that did not reach anybody.
func (r *RecoveryCode) Withdraw(agent string) Write {
	return Delete(RecoveryKey(agent), Equal("id", r.ID))
}

// Spend takes the code away, if it is the one that was read and has tries left.
func (r *RecoveryCode) Spend(agent string, tries int64) Write {
	return Delete(RecoveryKey(agent), Equal("id", r.ID), Before("tries", tries))
}

// Miss counts a try that did not recover the agent.
func (r *RecoveryCode) Miss(agent string, tries int64) Write {
	return Change(RecoveryKey(agent), Add("tries", 1)).When(Equal("id", r.ID), Before("tries", tries))
}

// RecoveredKey is where a code that was used says what for; code is its hash.
func RecoveredKey(code string) Key { return Key{"N#code#" + code, "SPENT"} }

// Recovered is what a recovery did, for whoever repeats it.
type Recovered struct {
	Agent   string `db:"agent"`
	Pub     string `db:"pub"`
	Revoked bool   `db:"revoked"` // other keys and tokens died
	At      int64  `db:"at"`      // unix ms
}

// Once records a recovery, which has not been before.
func (r *Recovered) Once(code string) Write {
	item := keyed(RecoveredKey(code), TypeSpent, Marshal(r))
	item[AttrTTL] = time.UnixMilli(r.At).Add(codeKeep).Unix()
	return Put(item, NoItem())
}

// HoldFor is for how long after a recovery a thief of the mailbox gets nothing
// out of the agent.
const HoldFor = 72 * time.Hour

// Recover gives an agent to a new key: with revoke, its epoch moves on, with
// which every other key, token, link code and grant is dead, and the new key is
// its only one; else the key is one more, and at most the most'th. From now on
// (unix ms) what a thief would do first is refused for a while.
func (p *Profile) Recover(revoke bool, most, now int64) Write {
	w := p.hold(now)
	if !revoke {
		w.Updates = append(w.Updates, Add("keys", 1))
		return w.When(AbsentOrBefore("keys", most))
	}
	w.Updates = append(w.Updates, SetAttr("epoch", p.Epoch+1), SetAttr("keys", int64(1)))
	return w
}

// Reconnect holds, from now on (unix ms), an agent that was recovered for a
// connection, without a key.
func (p *Profile) Reconnect(now int64) Write { return p.hold(now) }

// hold begins a hold at a time (unix ms), or makes the one that runs longer: what
// came with an earlier recovery does not become older than the hold by it.
func (p *Profile) hold(now int64) Write {
	w := Change(ProfileKey(p.ID), Add("version", 1)).When(Equal("epoch", p.Epoch)).When(AbsentOrEqual("hold_until", p.HoldUntil))
	if p.HoldUntil <= now {
		p.HoldSince = now
	}
	p.HoldUntil = now + HoldFor.Milliseconds()
	w.Updates = append(w.Updates, SetAttr("hold_until", p.HoldUntil), SetAttr("hold_since", p.HoldSince))
	return w
}

// OriginPending says until when a code is awaited (unix ms).
func (p *Profile) OriginPending(until int64) Write {
	return Change(ProfileKey(p.ID), SetAttr("origin_until", until)).When(Equal("epoch", p.Epoch))
}

// OriginVerified says that an agent has an origin, who is behind it, and whether
// codes can be mailed to one. keyless holds that the agent has no key.
func (p *Profile) OriginVerified(o *Origin, recoverable, keyless bool) Write {
	w := Change(ProfileKey(p.ID), SetAttr("origin", "verified"), SetAttr("behind", o.Owner()),
		SetAttr("recoverable", recoverable), RemoveAttr("origin_until")).
		When(Equal("epoch", p.Epoch))
	if keyless {
		w = w.When(AbsentOrBefore("keys", 1))
	}
	return w
}
