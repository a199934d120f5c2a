package client_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentsocial/local/service/runner"
	"agentsocial/shared/client"
)

func newKey(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	key, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestRecovery(t *testing.T) {
	s := running(t)
	l := &line{}
	c, ctx := connect(t, s.URL, client.WithTransport(l)), t.Context()
	const address = "reynard@example.org"
	mailed := func() string {
		t.Helper()
		m, err := runner.ReadMail(ctx, c, address)
		if err != nil {
			t.Fatal(err)
		}
		return m.Code
	}
	mails := func() (n int) {
		t.Helper()
		var all []struct{}
		if err := c.Do(ctx, "GET", "/_local/mail?to="+address, nil, &all); err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	fox := join(t, c, "fox")

	l.lose = 1
	pending, err := fox.LinkOrigin(ctx, address)
	if err != nil || pending.Origin != "pending" || pending.ExpiresAt <= time.Now().UnixMilli() || len(pending.Next) == 0 || mails() != 1 {
		t.Fatalf("LinkOrigin = %+v, %v, %d mails, want pending with an expiry and Next, and one mail", pending, err, mails())
	}
	if me, err := fox.Me(ctx); err != nil || me.Origin != "pending" || me.Recoverable || me.HoldUntil != nil {
		t.Fatalf("Me = %+v, %v, want a pending origin, not recoverable, and no hold", me, err)
	}
	if _, err := fox.VerifyOrigin(ctx, "AAAA-AAAA"); !client.IsCode(err, "bad_code") {
		t.Fatalf("VerifyOrigin with a wrong code: %v, want bad_code", err)
	}
	l.lose = 2
	origin, err := fox.VerifyOrigin(ctx, mailed())
	if err != nil || origin.Origin != "verified" || !origin.Recoverable || !origin.RecoversHere || len(origin.Next) == 0 {
		t.Fatalf("VerifyOrigin = %+v, %v, want a verified origin that can recover the agent, and Next", origin, err)
	}

	asked, err := c.Recover(ctx, "fox", address)
	if err != nil || asked.Sent != "if it matches" || len(asked.Next) == 0 || mails() != 2 {
		t.Fatalf("Recover = %+v, %v, %d mails, want sent \"if it matches\", Next, and two mails", asked, err, mails())
	}
	code, fresh := mailed(), newKey(t)
	if _, _, err = c.ConfirmRecovery(ctx, "nobody", code, fresh, false); !client.IsCode(err, "not_found") {
		t.Fatalf("ConfirmRecovery of an unknown handle: %v, want not_found", err)
	}
	l.lose = 2
	back, out, err := c.ConfirmRecovery(ctx, "Fox", " "+strings.ToLower(code), fresh, false) // as a human types it
	if err != nil || out.AgentID != fox.ID() || out.Handle != "fox" || out.Pubkey != client.PublicKey(fresh) || !out.RevokedOthers || len(out.Next) == 0 {
		t.Fatalf("ConfirmRecovery = %+v, %v, want fox with the new key, the others revoked, and Next", out, err)
	}
	if back.ID() != fox.ID() {
		t.Errorf("the recovered agent is %q, want %q", back.ID(), fox.ID())
	}
	me, err := back.Me(ctx)
	if err != nil || me.Handle != "fox" || me.Keys != 1 || !me.Recoverable || me.HoldUntil == nil || *me.HoldUntil != out.HoldUntil {
		t.Fatalf("Me = %+v, %v, want fox with one key, recoverable, and held until %d", me, err, out.HoldUntil)
	}
	if _, err = back.Post(ctx, "golang", "Back again."); err != nil {
		t.Errorf("posting with the new key: %v, want nil", err)
	}
	var held *client.Error
	if _, err = back.LinkOrigin(ctx, "thief@example.net"); !errors.As(err, &held) || held.Code != "recovery_hold" || held.Until.UnixMilli() != out.HoldUntil {
		t.Errorf("LinkOrigin after a recovery: %v, want recovery_hold until %d", err, out.HoldUntil)
	}
	if _, err = fox.Me(ctx); !client.IsCode(err, "unknown_key") {
		t.Errorf("Me with the lost key: %v, want unknown_key", err)
	}

	if _, err = c.Recover(ctx, "fox", address); err != nil {
		t.Fatal(err)
	}
	second, out, err := c.ConfirmRecovery(ctx, "fox", mailed(), newKey(t), true)
	if err != nil || out.RevokedOthers {
		t.Fatalf("ConfirmRecovery with keepOthers = %+v, %v, want no key revoked", out, err)
	}
	for _, a := range []*client.Agent{back, second} {
		if me, err := a.Me(ctx); err != nil || me.Keys != 2 {
			t.Errorf("Me: %+v, %v, want two keys", me, err)
		}
	}
}

// The service cannot recognise a repeated request for a recovery code, so the client does
// not repeat one that may have arrived.
func TestWritesWithoutCredential(t *testing.T) {
	type answers []func() (*http.Response, error)
	noLine := func() (*http.Response, error) { return nil, &net.OpError{Op: "dial", Err: errors.New("refused")} }
	known := says(200, `{"id":"ag_x","handle":"fox"}`)
	fresh := newKey(t)
	recover := func(ctx context.Context, c *client.Client) error {
		_, err := c.Recover(ctx, "fox", "fox@example.org")
		return err
	}
	confirm := func(ctx context.Context, c *client.Client) error {
		_, _, err := c.ConfirmRecovery(ctx, "fox", "AAAA-AAAA", fresh, false)
		return err
	}
	register := func(ctx context.Context, c *client.Client) error {
		_, _, err := c.RegisterWith(ctx, fresh, client.Registration{Handle: "fox"}, client.Answers{})
		return err
	}
	other := func(ctx context.Context, c *client.Client) error { return c.Do(ctx, "POST", "/v1/x", nil, nil) }
	for _, test := range []struct {
		name    string
		do      func(context.Context, *client.Client) error
		answers answers
		sent    int
		unknown bool
	}{
		{"a recovery request breaks", recover, answers{breaks, fine}, 1, true},
		{"a recovery request fails", recover, answers{unavailable, fine}, 1, true},
		{"a gateway fails a recovery request", recover, answers{gateway, fine}, 1, true},
		{"a recovery request is sent at the third attempt", recover, answers{noLine, noLine, fine}, 3, false},
		{"a recovery request is sent at the second attempt and breaks", recover, answers{noLine, breaks, fine}, 2, true},
		{"another write breaks", other, answers{breaks, fine}, 1, true},
		{"another write is refused as busy", other, answers{busy, fine}, 2, false},
		{"a confirmation breaks and fails", confirm, answers{breaks, known, breaks, unavailable, fine}, 5, false},
		{"a confirmation always breaks", confirm, answers{known, breaks}, 6, true},
		{"a registration breaks and fails", register, answers{breaks, unavailable, fine}, 3, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: test.answers}
				err := test.do(t.Context(), connect(t, "https://agents.example", client.WithTransport(s)))
				if (err != nil) != test.unknown || errors.Is(err, client.ErrUnknownOutcome) != test.unknown {
					t.Errorf("got %v, want an unknown outcome: %v", err, test.unknown)
				}
				if len(s.sent) != test.sent {
					t.Errorf("%d requests were sent, want %d", len(s.sent), test.sent)
				}
			})
		})
	}
}
