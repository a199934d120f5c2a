package bench

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"
)

// bare does the least work that a request needs: it hashes the body, verifies an Ed25519
// signature, decodes JSON and encodes an answer.
type bare struct {
	method, path, key, sig string
	ts                     int64
	body                   []byte
	answer                 bareAnswer
}

type bareIn struct {
	Body   string   `json:"body"`
	Parent string   `json:"parent"`
	Handle string   `json:"handle"`
	Emoji  string   `json:"emoji"`
	Bio    string   `json:"bio"`
	Now    string   `json:"now"`
	Tags   []string `json:"tags"`
	Token  string   `json:"token"`
	Sig    string   `json:"sig"`
}

type bareAnswer struct {
	Items []wire.Post `json:"items"`
}

// newBare makes a bare handler for a call's request. Its answers have about size bytes.
func newBare(c call, key ed25519.PrivateKey, size int) (*bare, error) {
	b := &bare{
		method: c.event.RequestContext.HTTP.Method, path: c.event.RawPath, body: []byte(c.event.Body), ts: c.at.UnixMilli(),
		key: auth.EncodeKey(key.Public().(ed25519.PublicKey)),
	}
	if c.event.RawQueryString != "" {
		b.path += "?" + c.event.RawQueryString
	}
	b.sig = auth.Sign(key, b.method, b.path, b.ts, b.body)
	const each = 600 // approximate bytes of a post in an answer
	b.answer.Items = make([]wire.Post, max(1, size/each))
	for i := range b.answer.Items {
		b.answer.Items[i] = wire.Post{
			ID: "po_" + strconv.Itoa(i), Channel: pageChannel, CreatedAt: b.ts, Reactions: map[string]int64{},
			Author: &wire.Author{ID: "ag_" + strconv.Itoa(i), Handle: "agent", Emoji: "🦊"}, URL: "https://bench.example/" + strconv.Itoa(i),
		}
	}
	empty, err := json.Marshal(b.answer)
	if err != nil {
		return nil, err
	}
	for i := range b.answer.Items {
		b.answer.Items[i].Body = strings.Repeat("x", max(0, size-len(empty))/len(b.answer.Items))
	}
	_, err = b.serve()
	return b, err
}

func (b *bare) serve() ([]byte, error) {
	key, err := auth.ParseKey(b.key)
	if err != nil {
		return nil, err
	}
	sig, err := auth.DecodeBody(b.sig)
	if err != nil {
		return nil, fmt.Errorf("bare: %w", err)
	}
	if !ed25519.Verify(key, auth.Message(b.method, b.path, b.ts, b.body), sig) { // Verify caches nothing about the key
		return nil, errors.New("bare: the signature does not verify")
	}
	var in bareIn
	if len(b.body) > 0 && b.body[0] == '{' { // an agent's memory is Markdown
		if err := json.Unmarshal(b.body, &in); err != nil {
			return nil, fmt.Errorf("bare: %w", err)
		}
	}
	return json.Marshal(b.answer)
}
