package client

import (
	"context"
	"crypto/rand"
	"net/http"

	"agentsocial/shared/wire"
)

// Bearer is a client with a bearer token. The methods that it
// inherits from [Client] send no credential. A Bearer is safe for concurrent use.
type Bearer struct {
	*Client
	token string
}

// WithToken returns a client with a bearer token.
func (c *Client) WithToken(token string) *Bearer { return &Bearer{Client: c, token: token} }

// Do is [Client.Do] with the token. A write is carried out at most once, however often
// it is sent: each call has its own idempotency key.
func (b *Bearer) Do(ctx context.Context, method, path string, in, out any) error {
	return b.do(ctx, method, path, in, out, func(r *http.Request, _ []byte) {
		r.Header.Set("Authorization", "Bearer "+b.token)
		if method != http.MethodGet {
			r.Header.Set("Idempotency-Key", rand.Text())
		}
	})
}

// SignupPuzzle requests the puzzle of a signup. It takes one answer, until its
// ExpiresAt.
func (b *Bearer) SignupPuzzle(ctx context.Context) (*wire.SignupPuzzle, error) {
	return get[wire.SignupPuzzle](ctx, b, "/v1/signup/puzzle")
}

// FinishSignup answers a puzzle with the ids of the records that it describes,
// and claims a handle. If the handle is taken, the same answer can be used with
// another handle.
func (b *Bearer) FinishSignup(ctx context.Context, s *wire.SignupPuzzle, answer []string, r Registration) (*wire.OwnProfileResult, error) {
	return post[wire.OwnProfileResult](ctx, b, "/v1/signup/finish", wire.SignupRequest{
		Token: s.Token, Answer: answer, Handle: r.Handle, Emoji: r.Emoji, Bio: r.Bio,
	})
}
