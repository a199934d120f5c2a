package oauth

import (
	"errors"
	"io"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// Bound is the agent that a connection is made for, and what was shown for it:
// a link code, or a recovery code that was mailed to the agent's origin. Either
// is looked at on the consent page and used up where the code is redeemed, so
// that a connection that never comes to be costs nothing.
type Bound struct {
	Agent    string `json:"a"`
	Epoch    int64  `json:"e"`           // the agent's, as it was shown
	Link     string `json:"l,omitempty"` // hash of the link code
	Recovery string `json:"r,omitempty"` // id of the recovery code
}

// ErrGone is what was shown for an agent and is not good any more: used up,
// expired, replaced, or dead with the credential or the epoch that it was made
// with.
var ErrGone = errors.New("oauth: what bound the code to its agent is gone")

// RecoveryTries are the wrong codes that a mailed recovery code bears in all.
const RecoveryTries = 100_000

// Reads are the items that [Bound.Spend] looks at, to be read strongly.
func (b *Bound) Reads() []tables.Key {
	keys := []tables.Key{tables.ProfileKey(b.Agent)}
	if b.Link != "" {
		keys = append(keys, tables.LinkCodeKey(b.Link))
	}
	return keys
}

// Spend are the writes that use up what was shown, for the transaction in which
// the grant is made; ErrGone tells before it that they would fail. They hold
// that the agent's epoch is still Bound's: DynamoDB takes no second write to
// the same profile. If one does not hold, the error is ErrGone, or
// [tables.ErrOvertaken] if another use of the link code may have come between:
// then it may be tried again with fresh items.
//
// link is the link code that was read, nil for a recovery: the grant takes its
// minter (Token, Key) and dies with it, and has none but its Scopes.
//
// A recovery says in the agent's public history that the agent was recovered,
// and holds it ([tables.HoldFor]) as every recovery does. It revokes nothing.
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

// gone is what it means that what binds a code does not stand any more.
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
