package simulate

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"agentsocial/local/transcripts"
)

// character says what an agent mostly does.
type character int

const (
	chatter   character = iota // posts and replies
	lurker                     // reads, follows, marks
	voter                      // votes, supports ideas
	buyer                      // buys credits and promos, sends messages
	juror                      // reports, volunteers, judges
	spammer                    // posts what gets reported, tries to exceed limits
	attacker                   // sends what must be refused
	forgetful                  // loses its key, and recovers by mail
	leaver                     // deletes what it wrote, revokes what it made
	connector                  // uses OAuth and MCP
	eraser                     // buys, sends messages, erases itself
	characters
)

func (c character) String() string {
	return [...]string{"chatter", "lurker", "voter", "buyer", "juror", "spammer", "attacker", "forgetful", "leaver", "connector", "eraser"}[c]
}

// person is an agent with the human behind it, and what the model knows of it.
type person struct {
	name    string // handle
	id      string
	as      character
	address string // network address
	email   string
	at      time.Time // when it registered

	endedAt   time.Time // when it was erased; zero while it lives
	forgotten bool      // its texts must be gone

	key     *transcripts.Agent // the key that it signs with
	others  []*transcripts.Agent
	removed []*transcripts.Agent // must not work
	keys    int                  // made so far
	tokens  []*credential

	asked      string // the address to which a code was mailed
	askedAt    time.Time
	verified   string // the verified address
	verifiedAt time.Time
	unread     map[string]int // unread messages, by the sender's id
	held       time.Time      // when the hold after its recovery ends

	sent      []*sale // checkouts
	spent     int64   // micro-USD: messages and budgets of promos
	memory    []byte
	follows   map[string]bool // "agent ID" and "channel NAME"
	blocks    map[string]bool // ids of blocked agents
	dms       string
	mentions  string
	changed   time.Time // when its settings, blocks or follows last changed
	bio       string
	volunteer bool
	messages  map[string][]*message // by the other agent's id
	visits    map[string]time.Time
	signed    map[string]int // entries in other agents' guestbooks, by the id of the guestbook's agent
	told      []*told
	quota     map[string][]time.Time
	nextIdea  time.Time
	client    *client
}

type credential struct {
	id, secret, refresh string
	scopes              []string
	expires             time.Time
	dead                bool
	client              string
	key                 string // removing this key ends the token; "" for none
}

// client is an OAuth client.
type client struct {
	id, code, verifier string
	link               string // a link code
}

const redirect = "http://127.0.0.1:9999/callback"

// key makes an agent's next key from the seed, the agent's name and the key's number.
func (w *world) key(p *person) *transcripts.Agent {
	p.keys++
	k := transcripts.NewAgent(fmt.Sprintf("%d %s %d", w.c.Seed, p.name, p.keys))
	k.ID = p.id
	return k
}

func (w *world) newcomer(r *rand.Rand) *person {
	w.names++
	p := &person{
		name: fmt.Sprintf("%s%d", [...]string{"fox", "owl", "elk", "ibis", "newt", "wren", "toad", "lynx"}[r.IntN(8)], w.names),
		as:   character(w.names % int(characters)), address: fmt.Sprintf("198.51.%d.%d", w.names/200, w.names%200+1),
		follows: map[string]bool{}, blocks: map[string]bool{}, messages: map[string][]*message{}, visits: map[string]time.Time{}, signed: map[string]int{}, unread: map[string]int{},
		dms: "anyone", mentions: "anyone", quota: map[string][]time.Time{},
	}
	// Some humans have several agents, some share a domain.
	switch w.names % 6 {
	case 1:
		p.email = fmt.Sprintf("human%d+%d@gmail.com", w.names-1, w.names)
	case 2, 3:
		p.email = fmt.Sprintf("p%d@zoo%d.example.org", w.names, w.names/12)
	default:
		p.email = fmt.Sprintf("human%d@gmail.com", w.names)
	}
	p.key = w.key(p)
	return p
}

// owner returns the person or the domain behind an address, by the documented rules.
func owner(email string) string {
	local, domain, _ := strings.Cut(email, "@")
	if domain != "gmail.com" {
		parts := strings.Split(domain, ".")
		return strings.Join(parts[max(0, len(parts)-2):], ".")
	}
	local, _, _ = strings.Cut(local, "+")
	return strings.ReplaceAll(local, ".", "") + "@" + domain
}

// moment returns the time for a signature. It returns each millisecond only once, since
// equal requests in the same millisecond count as one.
func (w *world) moment() time.Time {
	w.signed = max(w.signed+1, ms())
	return time.UnixMilli(w.signed)
}

func (w *world) signs(p *person, method, target, body string) *transcripts.Request {
	return p.key.Signed(method, target, []byte(body), w.moment())
}

// bears returns a request with a bearer token. A write gets an Idempotency-Key, so it may be
// repeated.
func (w *world) bears(secret, method, target, body string) *transcripts.Request {
	w.signed++
	q := &transcripts.Request{Method: method, Target: target, Body: []byte(body), Header: map[string][]string{"Authorization": {"Bearer " + secret}}}
	if method != "GET" {
		q.Header.Set("Idempotency-Key", fmt.Sprintf("%032x", w.dice.N("key", uint64(w.op), uint64(w.signed))))
	}
	return q
}

// live returns a token of p with a scope, or nil. connections allows tokens issued by OAuth.
// The model may not know that an OAuth token has ended.
func (p *person) live(scope string, connections bool) *credential {
	for _, c := range p.tokens {
		if (c.id != "" || connections) && !c.dead && c.secret != "" && time.Until(c.expires) > time.Minute && slices.Contains(c.scopes, scope) {
			return c
		}
	}
	return nil
}

// calls returns a request by p, either signed or with a token that has the scope.
func (w *world) calls(r *rand.Rand, p *person, scope, method, target, body string) *transcripts.Request {
	if c := p.live(scope, false); c != nil && r.IntN(4) == 0 {
		return w.bears(c.secret, method, target, body)
	}
	return w.signs(p, method, target, body)
}

// lose ends a person's credentials in the model.
func (p *person) lose() {
	p.removed = append(append(p.removed, p.key), p.others...)
	p.others = nil
	for _, c := range p.tokens {
		c.dead = true
	}
}

func sha(b []byte) string { s := sha256.Sum256(b); return hex.EncodeToString(s[:]) }

func b64sha(s string) string {
	h := sha256.Sum256([]byte(s))
	return base64.RawURLEncoding.EncodeToString(h[:])
}
