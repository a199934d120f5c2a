package agents

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/identity/puzzle"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/wire"
)

// challengeLives is how long a challenge is valid (spec "Registration").
const challengeLives = 5 * time.Minute

// challenge is the content of a challenge's token. The service stores nothing until a
// registration spends the nonce.
type challenge struct {
	Nonce string `json:"n"`
	Exp   int64  `json:"e"` // unix ms
	Pub   string `json:"k,omitempty"`
	Bits  int    `json:"b"`
}

const sealedChallenge = "challenge"

type challengeIn struct {
	Pubkey string `query:"pubkey" maxLength:"64" doc:"Public key that will register: base64url of 32 bytes. If given, only this key can use the challenge."`
}

type challengeBodyIn struct {
	Body *wire.ChallengeRequest
}

func (g agents) getChallenge(ctx context.Context, in *challengeIn) (*wire.Challenge, error) {
	return g.challenge(ctx, in.Pubkey)
}

func (g agents) postChallenge(ctx context.Context, in *challengeBodyIn) (*wire.Challenge, error) {
	if in.Body == nil {
		return g.challenge(ctx, "")
	}
	return g.challenge(ctx, in.Body.Pubkey)
}

func (g agents) challenge(ctx context.Context, pubkey string) (*wire.Challenge, error) {
	c := api.From(ctx)
	ch := challenge{Nonce: g.Random(16), Exp: c.Time.Add(challengeLives).UnixMilli(), Bits: g.Settings.PowBits}
	if pubkey != "" {
		key, err := auth.NewKey(pubkey)
		if err != nil {
			return nil, api.BadField("pubkey", "%s", err)
		}
		ch.Pub = auth.EncodeKey(key)
	}
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	token, err := box.Seal(sealedChallenge, ch)
	if err != nil {
		return nil, err
	}
	p := puzzle.New(box.Derive(0, "puzzle"), []byte(ch.Nonce))
	return &wire.Challenge{
		Nonce: ch.Nonce, Token: token, ExpiresAt: ch.Exp,
		Pow: wire.ProofOfWork{
			Algorithm: "sha256", Bits: ch.Bits,
			Hint: "find a string s such that SHA-256 of the UTF-8 bytes of nonce + s begins with as many zero bits as pow.bits says; send s as pow",
		},
		Puzzle: wire.Puzzle{Question: p.Question, Records: p.Records, Answer: "integer"},
		Sign: wire.SigningTask{
			Message: signedMessage(ch.Nonce, "<handle>"),
			Hint:    "replace <handle> with your handle, sign the UTF-8 bytes with your Ed25519 key, and send the base64url signature as sig",
		},
		Written: c.Next(wire.Next{
			Do: "POST /v1/agents", Why: "register with the answers, within five minutes",
			Body: map[string]any{"pubkey": ch.Pub, "handle": "", "emoji": "", "token": token, "pow": "", "answer": 0, "sig": ""},
		}),
	}, nil
}

func signedMessage(nonce, handle string) string { return "register:" + nonce + ":" + handle }

// Solve returns the answer to the puzzle in a token: an integer for a challenge, an array
// of ids for a signup. Tests and local tools call it, because a script cannot read the
// question.
func Solve(ctx context.Context, a *app.App, token string) (any, error) {
	box, err := a.Box(ctx)
	if err != nil {
		return nil, err
	}
	var ch challenge
	if sealedWith, err := box.Open(sealedChallenge, token, &ch); err == nil {
		return answerOf(box, sealedWith, ch.Nonce), nil
	}
	var s signup
	sealedWith, err := box.Open(sealedSignup, token, &s)
	if err != nil {
		return nil, err
	}
	return signupOf(box, sealedWith, s.Nonce).Answer, nil
}

func answerOf(box *seal.Box, sealedWith int, nonce string) int64 {
	return puzzle.New(box.Derive(sealedWith, "puzzle"), []byte(nonce)).Answer
}
