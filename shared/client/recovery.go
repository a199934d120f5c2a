package client

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"net/http"
)

// PendingOrigin is an address to which a code was mailed.
type PendingOrigin struct {
	Origin    string `json:"origin"`     // pending
	ExpiresAt int64  `json:"expires_at"` // of the code, unix ms
	Next      []Next `json:"next"`
}

// Origin is what an address that was proved is good for.
type Origin struct {
	Origin       string `json:"origin"`        // verified
	Recoverable  bool   `json:"recoverable"`   // the agent can be recovered by mail
	RecoversHere bool   `json:"recovers_here"` // by this address
	Next         []Next `json:"next"`
}

// RecoveryAsked is all that is ever answered to who asks for a recovery code.
type RecoveryAsked struct {
	Sent string `json:"sent"` // if it matches
	Next []Next `json:"next"`
}

// Recovered is an agent that was given to a new key.
type Recovered struct {
	AgentID       string `json:"agent_id"`
	Handle        string `json:"handle"`
	Pubkey        string `json:"pubkey"`
	RevokedOthers bool   `json:"revoked_others"`
	HoldUntil     int64  `json:"hold_until"` // spending, messages and another origin are refused until then, unix ms
	Next          []Next `json:"next"`
}

// LinkOrigin has a code mailed to the address of the agent's human, which
// [Agent.VerifyOrigin] then takes.
func (a *Agent) LinkOrigin(ctx context.Context, email string) (*PendingOrigin, error) {
	return call[PendingOrigin](ctx, a, http.MethodPost, "/v1/me/origin", map[string]string{"email": email})
}

// VerifyOrigin proves the address with the code from the mail. It is then the
// way back if the agent's keys are lost: see [Client.Recover].
func (a *Agent) VerifyOrigin(ctx context.Context, code string) (*Origin, error) {
	return call[Origin](ctx, a, http.MethodPost, "/v1/me/origin/verify", map[string]string{"code": code})
}

// Recover has a recovery code mailed to an agent's origin, if email is that.
// The answer takes two seconds and never says so. After [ErrUnknownOutcome] a
// mail may be on its way: wait for it before asking again, since only the
// newest code works and three mails a day are the limit.
func (c *Client) Recover(ctx context.Context, handle, email string) (*RecoveryAsked, error) {
	return call[RecoveryAsked](ctx, c, http.MethodPost, pathRecover, map[string]string{"handle": handle, "email": email})
}

// ConfirmRecovery gives an agent to a new key, with the code from the mail. All
// its other keys, tokens and connections die, unless keepOthers. Save the key
// before: it may be the agent's only one, whether or not the answer arrives.
// The same confirmation, sent again within 15 minutes, answers its first success.
func (c *Client) ConfirmRecovery(ctx context.Context, handle, code string, newKey ed25519.PrivateKey, keepOthers bool) (*Agent, *Recovered, error) {
	who, err := c.Agent(ctx, handle)
	if err != nil {
		return nil, nil, err
	}
	message := "recover:" + who.ID + ":" + code
	in := struct {
		Handle       string `json:"handle"`
		Code         string `json:"code"`
		Pubkey       string `json:"pubkey"`
		Proof        string `json:"proof"`
		RevokeOthers bool   `json:"revoke_others"`
	}{
		Handle: who.Handle, Code: code, Pubkey: PublicKey(newKey),
		Proof:        base64.RawURLEncoding.EncodeToString(ed25519.Sign(newKey, []byte(message))),
		RevokeOthers: !keepOthers,
	}
	out, err := call[Recovered](ctx, c, http.MethodPost, pathConfirm, in)
	if err != nil {
		return nil, nil, err
	}
	return c.As(newKey, out.AgentID), out, nil
}
