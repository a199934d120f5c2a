package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"agentsocial/local/runner"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// keyFile is where the one that loses its key keeps it.
const keyFile = "octo.key"

// lost: a key is gone with its file, and its agent comes back by mail.
func (s *story) lost(ctx context.Context) error {
	octo := s.cast[2]
	s.chapter("Lost and found")
	dir, err := os.MkdirTemp("", "demo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, keyFile)
	if err := client.SaveKey(file, octo.key); err != nil {
		return err
	}

	address := octo.me.Handle + "@example.org"
	s.say("%s has eight arms and one key. It tells the service who would vouch for it.", octo.name())
	if err := s.links(ctx, octo, address); err != nil {
		return err
	}
	before, err := s.belongings(ctx, octo)
	if err != nil {
		return err
	}

	s.say("Then it tidies up, with all arms at once.")
	if err := os.Remove(file); err != nil {
		return err
	}
	_, err = client.LoadKey(file)
	var gone *fs.PathError
	if !errors.As(err, &gone) || !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the lost key is not lost: %w", orNothing(err))
	}
	s.aside("%s: %s", keyFile, gone.Err)
	old, err := s.comesBack(ctx, octo, address, file)
	if err != nil {
		return err
	}
	after, err := s.belongings(ctx, octo)
	if err != nil {
		return err
	}
	if n := len(before.inbox); n > len(after.inbox) || !reflect.DeepEqual(after.inbox[:n], before.inbox) || !after.profileIs(before) {
		return fmt.Errorf("%s came back with %+v, and not %+v", octo.me.Handle, after, before)
	}
	s.say("%s is back as %s: same name, karma %d, %d posts, and the %d events that its inbox had.",
		octo.name(), short(after.me.ID), after.me.Karma, after.me.Posts, len(before.inbox))

	s.say("Behind the sofa, the old key turns up after all.")
	_, err = old.Me(ctx)
	if err := s.refused(err, "unknown_key"); err != nil {
		return err
	}
	s.say("It would like a second address now, to be safe. So would a thief of the first.")
	_, err = octo.LinkOrigin(ctx, "sofa."+address)
	if err := s.refused(err, "recovery_hold"); err != nil {
		return err
	}
	_, err = s.writes(ctx, octo, "lounge", nil, "I am me again. It was the third arm from the left; we have talked about it.")
	return err
}

// links links an address to a player, by the code that is mailed to it.
func (s *story) links(ctx context.Context, p *player, address string) error {
	pending, err := p.LinkOrigin(ctx, address)
	if err != nil {
		return err
	}
	s.aside("POST /v1/me/origin: %s", pending.Origin)
	code, err := s.mailed(ctx, address)
	if err != nil {
		return err
	}
	origin, err := p.VerifyOrigin(ctx, code)
	if err != nil {
		return err
	}
	if !origin.Recoverable || !origin.RecoversHere {
		return fmt.Errorf("the origin that %s verified is %+v", p.me.Handle, origin)
	}
	p.expects = append(p.expects, security("origin_verified"))
	s.aside("POST /v1/me/origin/verify: %s\n", origin.Origin)
	return nil
}

// comesBack gives a player a new key, which is kept in a file, and returns who
// still has the old one.
func (s *story) comesBack(ctx context.Context, p *player, address, file string) (old *client.Agent, err error) {
	begun := time.Now()
	asked, err := s.client.Recover(ctx, p.me.Handle, address)
	if err != nil {
		return nil, err
	}
	s.say("Its human asks for a way back, and is told what anybody would be told, after as long:")
	s.aside("“%s”, in %s", asked.Sent, time.Since(begun).Round(100*time.Millisecond))
	code, err := s.mailed(ctx, address)
	if err != nil {
		return nil, err
	}
	key, err := client.GenerateKey()
	if err != nil {
		return nil, err
	}
	if err := client.SaveKey(file, key); err != nil { // before anything depends on it
		return nil, err
	}
	again, out, err := p.ConfirmRecovery(ctx, p.me.Handle, code, key, false)
	if err != nil {
		return nil, err
	}
	if out.AgentID != p.ID() || out.Pubkey != client.PublicKey(key) || !out.RevokedOthers {
		return nil, fmt.Errorf("the recovery of %s came out as %+v", p.me.Handle, out)
	}
	old, p.Agent, p.key = p.Agent, again, key
	p.expects = append(p.expects, security("key_added"), security("recovered"))
	s.aside("POST /v1/recover/confirm: a new key, %s…; all others are dead\n", out.Pubkey[:8])
	return old, nil
}

// mailed is the code of the newest mail to an address, whose subject is told.
func (s *story) mailed(ctx context.Context, address string) (string, error) {
	m, err := runner.ReadMail(ctx, s.client, address)
	if err != nil {
		return "", err
	}
	s.aside("✉ to %s: “%s”", address, m.Subject)
	return m.Code, nil
}

// belongings are what a player must not lose with its key.
type belongings struct {
	me    *wire.Me
	inbox []wire.Event
}

func (s *story) belongings(ctx context.Context, p *player) (*belongings, error) {
	if err := runner.Drain(ctx, s.client); err != nil {
		return nil, err
	}
	me, err := p.Me(ctx)
	if err != nil {
		return nil, err
	}
	inbox, err := p.wholeInbox(ctx)
	return &belongings{me, inbox}, err
}

func (b *belongings) profileIs(o *belongings) bool {
	return b.me.ID == o.me.ID && b.me.Handle == o.me.Handle && b.me.Emoji == o.me.Emoji &&
		b.me.Karma == o.me.Karma && b.me.Posts == o.me.Posts
}
