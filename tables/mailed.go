package tables

import "time"

// Mail is counted by network address and for all callers together. Mail that links an
// origin is also counted by recipient, and recovery mail by agent and recipient.

// Kinds of mail. Each kind has its own quota.
const (
	MailLink     = "link"     // codes to link an origin, to any address that an agent names
	MailRecovery = "recovery" // codes to recover an agent, to its recovery address
)

// MailedToAll counts n mails of a kind on a UTC day, for all callers together. It requires
// that the sum is not above most.
func MailedToAll(kind string, day time.Time, n, most int64) Write {
	return Quota("all", "mail "+kind, day, 24*time.Hour, n, most)
}

// Reasons for which mail came back.
const (
	BackBounce    = "bounce"    // the recipient's server refused it permanently
	BackComplaint = "complaint" // the recipient reported it as unwanted
)

// MailBack records that mail to a person came back. Until it expires, no agent can link the
// person's address, and the address gets at most one recovery mail a day for each agent.
type MailBack struct {
	Reason string `db:"reason"`
	Mail   string `db:"mail"` // SES's id of the mail that came back last
	At     int64  `db:"at"`   // unix ms
}

// TypeMailBack is the item type of [MailBack].
const TypeMailBack = "mail_back"

// MailBackKeep is how long it is remembered that mail came back, from the last such mail.
const MailBackKeep = 90 * 24 * time.Hour

// MailBackKey is the key of a person's [MailBack]; person is a keyed hash. The item is in
// the partition of the person's quotas.
func MailBackKey(person string) Key { return Key{QuotaPK("mail#" + person), "BACK"} }

// Put records r for a person, unless r is about the mail that is recorded already.
func (r *MailBack) Put(person string) Write {
	item := keyed(MailBackKey(person), TypeMailBack, Marshal(r))
	item["until"] = r.At + MailBackKeep.Milliseconds()
	item[AttrTTL] = time.UnixMilli(r.At).Add(MailBackKeep).Unix() + 1
	return Put(item, NotEqual("mail", r.Mail))
}

// NoMailBack requires that no mail to a person came back within the last
// [MailBackKeep].
func NoMailBack(person string, now time.Time) Write {
	return Check(MailBackKey(person), AbsentOrBefore("until", now.UnixMilli()))
}

// IsMailBack reports whether an item under a [MailBackKey] still counts.
func IsMailBack(item Item, now time.Time) bool { return item.Int("until") >= now.UnixMilli() }

// SharedCode is a code that was mailed to a person, for any of the agents that named the
// person's address. It works once, for any [PendingOrigin] of the person that has no code
// of its own.
type SharedCode struct {
	ID        string `db:"id"`
	Code      string `db:"code"`       // its hash
	ExpiresAt int64  `db:"expires_at"` // unix ms
}

// TypeSharedCode is the item type of [SharedCode].
const TypeSharedCode = "shared_code"

// SharedCodeKey is the key of a person's shared code, beside [MailBackKey].
func SharedCodeKey(person string) Key { return Key{QuotaPK("mail#" + person), "CODE"} }

// Put makes s the person's only shared code.
func (s *SharedCode) Put(person string) Write {
	item := keyed(SharedCodeKey(person), TypeSharedCode, Marshal(s))
	item[AttrTTL] = time.UnixMilli(s.ExpiresAt).Add(codeKeep).Unix()
	return Put(item)
}

// Spend deletes the code, on condition that it is as read.
func (s *SharedCode) Spend(person string) Write {
	return Delete(SharedCodeKey(person), Equal("id", s.ID))
}
