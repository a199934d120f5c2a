package oauth

import (
	"errors"
	"io"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Bound is the agent of a connection, and the person's proof: a link code or a mailed
// recovery code. Redeeming the authorization code spends the proof, or one use of the link
// code, so an abandoned connection costs nothing.
type Bound struct {
	Agent    string `json:"a"`
	Epoch    int64  `json:"e"`           // the agent's, at the time of the proof
	Link     string `json:"l,omitempty"` // hash of the link code
	Recovery string `json:"r,omitempty"` // id of the recovery code
}

// ErrGone means that the proof is no longer valid: used up, expired, replaced or revoked.
var ErrGone = errors.New("oauth: the link code or recovery code is no longer valid")

// RecoveryTries bounds the wrong tries of a mailed recovery code by all callers together.
// It is too small for guessing 40 bits, and too large for a stranger to use up and lock
// out the owner.
const RecoveryTries = 100_000

// Reads returns the keys of the items that [Bound.Spend] needs. Read them
// strongly.
func (b *Bound) Reads() []tables.Key {
	keys := []tables.Key{tables.ProfileKey(b.Agent)}
	if b.Link != "" {
		keys = append(keys, tables.LinkCodeKey(b.Link))
	}
	return keys
}

// Spend returns the writes that spend the proof, for the transaction that makes the
// grant. They check or write the agent's profile. DynamoDB allows one write or check per
// item, so the transaction must not write the profile too.
//
// The error of Spend or of its writes is [ErrGone] if the proof is no longer valid. It is
// [tables.ErrOvertaken] if another use of the link code may have come first: retry with
// fresh items.
//
// link is nil for a recovery. Otherwise the grant must record the link code's minter
// ([tables.LinkCode.Minter]), so that the grant ends when the minter ends. The grant's
// scopes must be within link.Scopes.
func (b *Bound) Spend(item func(tables.Key) tables.Item, now time.Time, rand io.Reader) (link *tables.LinkCode, writes []tables.Write, err error) {
	var p tables.Profile
	if err := tables.Unmarshal(item(tables.ProfileKey(b.Agent)), &p); err != nil {
		return nil, nil, err
	}
	if p.ID == "" || p.Epoch != b.Epoch {
		return nil, nil, ErrGone
	}
	if b.Link == "" {
		return nil, b.recover(&p, now, rand), nil
	}
	link = new(tables.LinkCode)
	if err := tables.Unmarshal(item(tables.LinkCodeKey(b.Link)), link); err != nil {
		return nil, nil, err
	}
	if link.Agent != b.Agent || link.Epoch != b.Epoch || link.Uses < 1 || link.ExpiresAt <= now.UnixMilli() {
		return nil, nil, ErrGone
	}
	stands := tables.Check(tables.ProfileKey(b.Agent), tables.Equal("epoch", b.Epoch))
	return link, append(link.Use(now), link.Lend(now).Else(gone), stands.Else(gone)), nil
}

var gone = tables.Means(ErrGone)

func (b *Bound) recover(p *tables.Profile, now time.Time, rand io.Reader) []tables.Write {
	code := &tables.RecoveryCode{ID: b.Recovery}
	entry := &tables.HistoryEntry{ID: id.Event.New(now, rand), Kind: tables.HistoryRecovered, At: now.UnixMilli()}
	return []tables.Write{
		code.Spend(b.Agent, RecoveryTries).Else(gone),
		p.Reconnect(now.UnixMilli()).Else(gone),
		tables.Put(entry.Item(b.Agent)),
	}
}
