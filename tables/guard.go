package tables

import (
	"fmt"
	"time"
)

// A guard is an item that counts an agent's writes in one minute, by the timestamps in the
// requests. The transaction of each write adds one, and stores the request's digest with
// the outcome. A write that is refused, but not by a limit, is counted too, without
// an outcome.

// TypeGuard and the others are the item types of limits, of spent values and of outcomes.
const (
	TypeGuard = "guard"
	TypeQuota = "quota"
	TypeSpent = "spent"
	TypeIdem  = "idempotency"
)

// guardAt is the attribute of a guard with the time of the last write, unix ms.
const guardAt = "at"

// WroteSince reports whether a guard's last write was not before at. It
// returns true for guards of early versions, which lack this time.
func WroteSince(guard Item, at time.Time) bool {
	last := guard.Int(guardAt)
	return last == 0 || last >= at.UnixMilli()
}

// guardKeep is the lifetime of a guard. A request's timestamp is accepted for less
// time.
const guardKeep = 10 * time.Minute

// GuardKey is the key of a minute's guard.
func GuardKey(agent string, minute time.Time) Key {
	return Key{"G#" + agent, minute.UTC().Format("200601021504")}
}

// GuardsBetween queries the guards of the minutes between two times, both included.
func GuardsBetween(agent string, from, to time.Time) Query {
	return Query{PK: GuardKey(agent, from).PK, From: GuardKey(agent, from).SK, To: GuardKey(agent, to).SK, Consistency: Strong}
}

// Digest returns the attribute of a guard that holds a request's outcome.
func Digest(sum []byte) string { return fmt.Sprintf("d:%x", sum[:16]) }

// Bound is one limit that a guard enforces. The name "n" counts all writes.
type Bound struct {
	Name string
	Most int64
}

// Guard counts one write, made at the time now, in the guard of a minute. It records the
// outcome under digest, unless digest is "". It requires that no bound is exceeded and
// that the digest is new.
func Guard(agent string, minute, now time.Time, digest, outcome string, bounds ...Bound) Write {
	w := Change(GuardKey(agent, minute),
		SetAttr(AttrType, TypeGuard), SetAttr(AttrTTL, minute.Add(guardKeep).Unix()), SetAttr(guardAt, now.UnixMilli()))
	for _, b := range bounds {
		w.Updates = append(w.Updates, Add(b.Name, 1))
		w.If = append(w.If, AbsentOrBefore(b.Name, b.Most))
	}
	if digest != "" {
		w.Updates = append(w.Updates, SetAttr(digest, outcome))
		w.If = append(w.If, Absent(digest))
	}
	return w
}

// QuotaPK is the partition of counts over windows of time: of an agent, by its
// id; of a network address, by its hash; of a mail's recipient; or of all callers
// together, by "all".
func QuotaPK(who string) string { return "Q#" + who }

// QuotaKey is the key of a rule's count in a period that begins at window.
func QuotaKey(who, rule string, window time.Time) Key {
	return Key{QuotaPK(who), rule + "#" + window.UTC().Format("200601021504")}
}

// Quota adds n, which must not be above most, to a rule's count in a window, on condition
// that the sum is not above most.
func Quota(who, rule string, window time.Time, length time.Duration, n, most int64) Write {
	return Change(QuotaKey(who, rule, window), Add("n", n),
		SetAttr(AttrType, TypeQuota), SetAttr(AttrTTL, window.Add(length).Unix()+60),
	).When(AbsentOrBefore("n", most-n+1))
}

// IdempotencyKey is the key of the outcome of a request with an
// Idempotency-Key.
func IdempotencyKey(agent, key string) Key { return Key{"N#idem#" + agent, key} }

// IdempotencyKeep is how long such an outcome is kept.
const IdempotencyKeep = 24 * time.Hour

// Idempotency records the outcome of a request, on condition that no outcome was recorded
// under the key within [IdempotencyKeep]. The digest in the record tells a repeated request
// from another request with the same key.
func Idempotency(agent, key, digest, outcome string, now time.Time) Write {
	return Put(keyed(IdempotencyKey(agent, key), TypeIdem, Item{
		"digest": digest, "outcome": outcome,
		"expires_at": now.Add(IdempotencyKeep).UnixMilli(), AttrTTL: now.Add(IdempotencyKeep).Unix() + 1,
	}), AbsentOrBefore("expires_at", now.UnixMilli()+1))
}

// RequestKey is the key of a request under way; name is its digest or its
// Idempotency-Key. Of two concurrent copies of a request, only the one that claims it may
// send a mail or open a checkout.
func RequestKey(agent, name string) Key { return Key{"N#request#" + agent, name} }

// ClaimFor is the lifetime of a claim. It is longer than a request may run.
const ClaimFor = 30 * time.Second

// ClaimRequest claims a request and requires that no copy of it is under way.
func ClaimRequest(agent, name string, now time.Time) Write {
	until := now.Add(ClaimFor)
	return Put(keyed(RequestKey(agent, name), TypeSpent, Item{
		"expires_at": until.UnixMilli(), AttrTTL: until.Unix() + 1,
	}), AbsentOrBefore("expires_at", now.UnixMilli()+1))
}

// NonceKey is the key of the spent nonce of a challenge, of a signup's puzzle,
// or of a consent page.
func NonceKey(nonce string) Key { return Key{"N#nonce#" + nonce, "SPENT"} }

// SpentNonce records what a nonce was used for.
type SpentNonce struct {
	Agent  string `db:"agent"` // who registered with it; "" if nobody did
	Pub    string `db:"pub"`
	Handle string `db:"handle"`
	At     int64  `db:"at"` // unix ms
}

// nonceKeep is how long a spent nonce is remembered. A challenge is valid, and a
// registration can be repeated, for less time.
const nonceKeep = time.Hour

// SpendNonce spends a nonce.
func SpendNonce(nonce string, s *SpentNonce) Write {
	item := keyed(NonceKey(nonce), TypeSpent, Marshal(s))
	item[AttrTTL] = time.UnixMilli(s.At).Add(nonceKeep).Unix()
	return Put(item, NoItem())
}

// UsedKey is the key of the day of a credential's last use; name is a public key or a
// token's id. It is in the quotas' partition, because every group of endpoints may write
// there.
func UsedKey(agent, name string) Key { return Key{QuotaPK(agent), UsedPrefix + name} }

// UsedPrefix begins the sort keys of last uses.
const UsedPrefix = "used#"

// TypeUsed is the item type of a last use.
const TypeUsed = "used"

// UsedKeep is how long a last use is remembered.
const UsedKeep = 400 * 24 * time.Hour

// MarkUsed records that a credential was used on a UTC day, unless that day or a later
// one is recorded.
func MarkUsed(agent, name string, day time.Time) Write {
	return Change(UsedKey(agent, name),
		SetAttr(AttrType, TypeUsed), SetAttr("day", day.UnixMilli()), SetAttr(AttrTTL, day.Add(UsedKeep).Unix()),
	).When(AbsentOrBefore("day", day.UnixMilli()))
}

// UsedDay returns the day (unix ms) in an item of [MarkUsed]; 0 if there is
// none.
func UsedDay(item Item) int64 { return item.Int("day") }
