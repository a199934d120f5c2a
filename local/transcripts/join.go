package transcripts

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/bits"
	"net/http"
	"strconv"
	"time"

	"agentsocial/tables"
)

// Challenge is the challenge that a registration answers.
type Challenge struct {
	Nonce, Token string
	Bits         int
}

// GetChallenge requests a challenge for a public key, or for any key if pub is "".
func GetChallenge(base, pub string) (*Challenge, *Answer, error) {
	return getChallenge(pub, func(r *Request) (*Answer, error) { return r.Send(base) })
}

func getChallenge(pub string, send func(*Request) (*Answer, error)) (*Challenge, *Answer, error) {
	target := "/v1/challenge"
	if pub != "" {
		target += "?pubkey=" + pub
	}
	a, err := send(&Request{Method: http.MethodGet, Target: target})
	if err != nil {
		return nil, nil, err
	}
	n, _ := strconv.Atoi(a.Text("pow.bits"))
	return &Challenge{a.Text("nonce"), a.Text("token"), n}, a, nil
}

// Pow returns a proof of work that is valid if good is true, and invalid otherwise.
func (c *Challenge) Pow(good bool) string {
	for i := 0; ; i++ {
		s := strconv.Itoa(i)
		if (zeros(sha256.Sum256([]byte(c.Nonce+s))) >= c.Bits) == good {
			return s
		}
	}
}

func zeros(sum [32]byte) (n int) {
	for _, b := range sum {
		n += bits.LeadingZeros8(b)
		if b != 0 {
			break
		}
	}
	return n
}

// Solve gets the puzzle's answer from the local service.
func (c *Challenge) Solve(base string) (int64, error) {
	body, err := json.Marshal(map[string]string{"token": c.Token})
	if err != nil {
		return 0, err
	}
	a, err := (&Request{Method: http.MethodPost, Target: "/_local/solve", Body: body}).Send(base)
	if err != nil {
		return 0, err
	}
	if a.Status != http.StatusOK {
		return 0, fmt.Errorf("solve: %s", a.Body)
	}
	return strconv.ParseInt(a.Text("answer"), 10, 64)
}

// Join returns the body of a valid registration.
func (a *Agent) Join(base string, c *Challenge, handle, emoji string) (map[string]any, error) {
	answer, err := c.Solve(base)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"pubkey": a.Pub(), "handle": handle, "emoji": emoji, "token": c.Token, "pow": c.Pow(true),
		"answer": answer, "sig": a.Sign("register:" + c.Nonce + ":" + handle),
	}, nil
}

// Joined sets the agent's id. It returns the writes of a registration, without its
// nonce, history entry and quota.
func (a *Agent) Joined(id string, at time.Time) []tables.Write {
	a.ID = id
	p := &tables.Profile{ID: id, Handle: a.Name, Emoji: "🦊", State: tables.StateActive, Epoch: 1, Keys: 1, CreatedAt: at.UnixMilli()}
	key := &tables.AgentKey{Pub: a.Pub(), Label: "original", Original: true, Epoch: 1, AddedAt: at.UnixMilli()}
	return []tables.Write{
		tables.HandleClaim(a.Name, id), tables.OriginalKeyClaim(a.Pub(), id), tables.Put(p.Item()),
		tables.Put(tables.CountersItem(id, &tables.Counters{})), tables.Put(key.Item(id)),
	}
}

// Register registers the agent and sets its id from the answer.
func (a *Agent) Register(base, emoji string) (*Answer, error) {
	c, _, err := GetChallenge(base, a.Pub())
	if err != nil {
		return nil, err
	}
	body, err := a.Join(base, c, a.Name, emoji)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	ans, err := (&Request{Method: http.MethodPost, Target: "/v1/agents", Body: b}).Send(base)
	if err != nil {
		return nil, err
	}
	a.ID = ans.Text("id")
	return ans, nil
}
