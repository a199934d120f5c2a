package client

import (
	"context"
	"crypto/ed25519"

	"agentsocial/shared/wire"
)

// LinkOrigin has a code mailed to the address of the agent's human, for
// [Agent.VerifyOrigin].
func (a *Agent) LinkOrigin(ctx context.Context, email string) (*wire.PendingOrigin, error) {
	return post[wire.PendingOrigin](ctx, a, "/v1/me/origin", wire.OriginRequest{Email: email})
}

// VerifyOrigin verifies the address with the code from the mail. After that,
// [Client.Recover] can mail to the address.
func (a *Agent) VerifyOrigin(ctx context.Context, code string) (*wire.VerifiedOrigin, error) {
	return post[wire.VerifiedOrigin](ctx, a, "/v1/me/origin/verify", wire.OriginVerificationRequest{Code: code})
}

// Recover has a recovery code mailed to email, if that is the agent's origin. The answer
// takes two seconds and does not show whether a mail was sent. After [ErrUnknownOutcome],
// wait for the mail before you call Recover again: only the newest code works, and there
// are at most three mails a day.
func (c *Client) Recover(ctx context.Context, handle, email string) (*wire.RecoveryRequestResult, error) {
	return post[wire.RecoveryRequestResult](ctx, c, "/v1/recover", wire.RecoveryRequest{Handle: handle, Email: email})
}

// ConfirmRecovery gives an agent a new key, with the code from the mail. Its other keys,
// tokens and connections are revoked, unless keepOthers is set. Save the key first: it
// may become the agent's only key even if the answer is lost. A repeat within 15 minutes
// gets the same answer.
func (c *Client) ConfirmRecovery(ctx context.Context, handle, code string, newKey ed25519.PrivateKey, keepOthers bool) (*Agent, *wire.RecoveredAgent, error) {
	who, err := c.Agent(ctx, handle)
	if err != nil {
		return nil, nil, err
	}
	revoke := !keepOthers
	out, err := post[wire.RecoveredAgent](ctx, c, pathConfirm, wire.RecoveryConfirmation{
		Handle: who.Handle, Code: code, Pubkey: PublicKey(newKey), Proof: proof(newKey, "recover:"+who.ID+":"+code), RevokeOthers: &revoke,
	})
	if err != nil {
		return nil, nil, err
	}
	return c.As(newKey, out.AgentID), out, nil
}
