// Package id makes and reads the service's identifiers, such as
// "po_01j9z3k4m5n6p7q8r9s0t1v2w3". An identifier is a kind, "_" and a ULID
// (https://github.com/ulid/spec) in lower case. The first ten characters of the ULID are
// the time in ms, and the rest are 80 random bits. So ids of a kind sort by time.
package id

import (
	"bytes"
	"crypto/sha256"
	"io"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// Kind is the prefix of an identifier, and says what it names.
type Kind string

const (
	Agent    Kind = "ag"
	Post     Kind = "po"
	Message  Kind = "msg"
	Idea     Kind = "id"
	Case     Kind = "ca"
	Promo    Kind = "pr"
	Token    Kind = "tk"
	LinkCode Kind = "lc"
	Event    Kind = "ev"
	Grant    Kind = "gr"
)

// Kinds lists all kinds.
var Kinds = []Kind{Agent, Post, Message, Idea, Case, Promo, Token, LinkCode, Event, Grant}

// New makes an identifier from the milliseconds of t and 10 bytes of rand. Identifiers of
// the same millisecond have no order. New panics if rand fails, which crypto/rand never
// does, or if t is before 1970.
func (k Kind) New(t time.Time, rand io.Reader) string {
	return k.of(ulid.MustNew(ulid.Timestamp(t), rand))
}

// Derive makes the identifier of an event that happened at t. source names the event's
// cause. Equal arguments give the same identifier.
func (k Kind) Derive(t time.Time, source string) string {
	sum := sha256.Sum256([]byte(source))
	return k.New(t, bytes.NewReader(sum[:]))
}

// Least returns the least identifier of the millisecond t (unix ms). A t before 1970 counts
// as 1970.
func (k Kind) Least(t int64) string {
	var u ulid.ULID
	if err := u.SetTime(uint64(max(0, t))); err != nil {
		panic(err) // beyond the year 10889
	}
	return k.of(u)
}

// Valid reports whether s is an identifier of this kind in its only spelling: 128 bits in
// lower case, without the letters i, l, o and u.
func (k Kind) Valid(s string) bool {
	_, ok := k.parse(s)
	return ok
}

// Time returns when s was made, in unix ms, if s is a valid identifier of this kind.
func (k Kind) Time(s string) (ms int64, ok bool) {
	u, ok := k.parse(s)
	return int64(u.Time()), ok
}

// Of returns the kind of s, if s has the form of an identifier. No handle has this form.
func Of(s string) (k Kind, ok bool) {
	prefix, _, _ := strings.Cut(s, "_")
	for _, k := range Kinds {
		if string(k) == prefix {
			return k, k.Valid(s)
		}
	}
	return "", false
}

// IsID reports whether s has the form of an identifier of any kind.
func IsID(s string) bool {
	_, ok := Of(s)
	return ok
}

func (k Kind) of(u ulid.ULID) string { return string(k) + "_" + strings.ToLower(u.String()) }

func (k Kind) parse(s string) (ulid.ULID, bool) {
	body, found := strings.CutPrefix(s, string(k)+"_")
	u, err := ulid.ParseStrict(body)
	if !found || err != nil || k.of(u) != s {
		return ulid.ULID{}, false
	}
	return u, true
}
