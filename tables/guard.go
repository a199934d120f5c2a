package tables

import (
	"fmt"
	"time"
)

// A guard is one item per agent and minute of its requests' own timestamps. It
// is both the exact write limit and the record of what was answered: each write
// that has an effect counts up and leaves its digest with the outcome, in the
// transaction that has the effect.

// TypeGuard and the others are what bounds requests.
const (
	TypeGuard = "guard"
	TypeQuota = "quota"
	TypeSpent = "spent"
	TypeIdem  = "idempotency"
)

// guardKeep is longer than a request's timestamp can be accepted.
const guardKeep = 10 * time.Minute

// GuardKey is the guard of a minute.
func GuardKey(agent string, minute time.Time) Key {
	return Key{"G#" + agent, minute.UTC().Format("200601021504")}
}

// Digest names the attribute of a guard that holds a request's outcome.
func Digest(sum []byte) string { return fmt.Sprintf("d:%x", sum[:16]) }

// Bound is one limit that a guard counts: name "n" is all writes.
type Bound struct {
	Name string
	Most int64
}

// Guard counts one write in its minute and records its outcome under digest,
// if the write has one ("" for none). It holds that no bound is exceeded and
// that the digest is new.
func Guard(agent string, minute time.Time, digest, outcome string, bounds ...Bound) Write {
	w := Change(GuardKey(agent, minute),
		SetAttr(AttrType, TypeGuard), SetAttr(AttrTTL, minute.Add(guardKeep).Unix()))
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

// QuotaPK is the partition of what is counted over longer windows, for an
// agent's id or an address's hash.
func QuotaPK(who string) string { return "Q#" + who }

// QuotaKey is the count of one rule in one window, named by when it began.
func QuotaKey(who, rule string, window time.Time) Key {
	return Key{QuotaPK(who), rule + "#" + window.UTC().Format("200601021504")}
}

// Quota counts n of a rule in a window and holds that there were at most
// most-n before.
func Quota(who, rule string, window time.Time, length time.Duration, n, most int64) Write {
	return Change(QuotaKey(who, rule, window), Add("n", n),
		SetAttr(AttrType, TypeQuota), SetAttr(AttrTTL, window.Add(length).Unix()+60),
	).When(AbsentOrBefore("n", most-n+1))
}

// IdempotencyKey is where the outcome of a request with an Idempotency-Key stands.
func IdempotencyKey(agent, key string) Key { return Key{"N#idem#" + agent, key} }

// IdempotencyKeep is how long such an outcome is kept.
const IdempotencyKeep = 24 * time.Hour

// Idempotency records the outcome of a request, whose digest tells another
// request under the same key. What is older than a day counts as gone.
func Idempotency(agent, key, digest, outcome string, now time.Time) Write {
	return Put(keyed(IdempotencyKey(agent, key), TypeIdem, Item{
		"digest": digest, "outcome": outcome,
		"expires_at": now.Add(IdempotencyKeep).UnixMilli(), AttrTTL: now.Add(IdempotencyKeep).Unix() + 1,
	}), AbsentOrBefore("expires_at", now.UnixMilli()+1))
}

// RequestKey is where a request that is being carried out stands.
func RequestKey(agent, name string) Key { return Key{"N#request#" + agent, name} }

// ClaimFor is longer than a function may run: what claimed a request that long
// ago is dead.
const ClaimFor = 30 * time.Second

// ClaimRequest holds that a request is not being carried out.
func ClaimRequest(agent, name string, now time.Time) Write {
	until := now.Add(ClaimFor)
	return Put(keyed(RequestKey(agent, name), TypeSpent, Item{
		"expires_at": until.UnixMilli(), AttrTTL: until.Unix() + 1,
	}), AbsentOrBefore("expires_at", now.UnixMilli()+1))
}

// NonceKey is where a challenge's nonce is spent.
func NonceKey(nonce string) Key { return Key{"N#nonce#" + nonce, "SPENT"} }

// SpentNonce is what a challenge was used for.
type SpentNonce struct {
	Agent  string `db:"agent"` // who registered with it; empty: a wrong answer spent it
	Pub    string `db:"pub"`
	Handle string `db:"handle"`
	At     int64  `db:"at"` // unix ms
}

// nonceKeep is longer than a challenge lives and a registration is repeated.
const nonceKeep = time.Hour

// SpendNonce uses a challenge up.
func SpendNonce(nonce string, s *SpentNonce) Write {
	item := keyed(NonceKey(nonce), TypeSpent, Marshal(s))
	item[AttrTTL] = time.UnixMilli(s.At).Add(nonceKeep).Unix()
	return Put(item, NoItem())
}

// UsedKey is where the day of a credential's last use stands; name is a public
// key or a token's id. It lies in the quotas' partition, which functions that
// only read may write to.
func UsedKey(agent, name string) Key { return Key{QuotaPK(agent), UsedPrefix + name} }

// UsedPrefix begins the sort keys of days of use.
const UsedPrefix = "used#"

// TypeUsed is the item type of a day of use.
const TypeUsed = "used"

// UsedKeep is how long it is remembered that a credential was used.
const UsedKeep = 400 * 24 * time.Hour

// MarkUsed notes that a credential was used on a UTC day, unless that or a
// later one is known.
func MarkUsed(agent, name string, day time.Time) Write {
	return Change(UsedKey(agent, name),
		SetAttr(AttrType, TypeUsed), SetAttr("day", day.UnixMilli()), SetAttr(AttrTTL, day.Add(UsedKeep).Unix()),
	).When(AbsentOrBefore("day", day.UnixMilli()))
}

// UsedDay is the day (unix ms) that an item of [MarkUsed] tells; 0 if there is none.
func UsedDay(item Item) int64 { return item.Int("day") }
