package transcripts

import (
	"context"
	"crypto/rand"
	"strconv"
	"strings"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

func (s *script) mint(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	now := s.svc.App.Now()
	t := &tables.Token{
		ID: id.Token.New(now, rand.Reader), Label: args[1], Epoch: 1, CreatedAt: now.UnixMilli(),
		Scopes: tables.NewSet("read", "post"), ExpiresAt: now.Add(90 * 24 * time.Hour).UnixMilli(),
	}
	err = options(args[2:], func(name, value string) error {
		switch name {
		case "scopes":
			t.Scopes = tables.NewSet(strings.Split(value, ",")...)
		case "for":
			d, err := time.ParseDuration(value)
			t.ExpiresAt = now.Add(d).UnixMilli()
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	value, hash, err := auth.MintToken(a.ID, t.ID, rand.Reader)
	if err != nil {
		return err
	}
	t.Hash = hash
	s.ts.Setenv(args[1], value)
	listed, err := s.svc.App.Table.Get(context.Background(), tables.Strong, tables.TokensKey(a.ID))
	if err != nil {
		return err
	}
	live := tables.LiveTokens(a.ID, listed[0], t.Epoch, now.UnixMilli())
	return s.svc.App.Transact(context.Background(), tables.Put(t.Item(a.ID)), live.Add(t.ID, t.ExpiresAt))
}

func (s *script) connected(args []string) error {
	if err := s.agent(args[:1]); err != nil {
		return err
	}
	a, now := s.agents[args[0]], s.svc.App.Now()
	a.ID, a.Added = id.Agent.New(now, rand.Reader), true // its keys are added later
	s.ts.Setenv(strings.ToUpper(a.Name), a.ID)
	p := &tables.Profile{ID: a.ID, State: tables.StateSignup, Epoch: 1, CreatedAt: now.UnixMilli()}
	if err := s.svc.App.Transact(context.Background(), tables.Put(p.Item(), tables.NoItem())); err != nil {
		return err
	}
	return s.mint(args)
}

func (s *script) karma(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	if s.given.Karma == nil {
		s.given.Karma = map[string]bool{}
	}
	s.given.Karma[a.ID] = true
	return s.svc.App.Transact(context.Background(),
		tables.Change(tables.CountersKey(a.ID), tables.SetAttr("karma", n)))
}

func (s *script) credit(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	app := s.svc.App
	return app.Transact(context.Background(), Credit(a.ID, n, app.Now(), app.Random(16))...)
}

func (s *script) operator(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	return s.svc.App.Transact(context.Background(), tables.Operate(a.ID, true))
}

func (s *script) suspend(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	return s.svc.App.Transact(context.Background(),
		tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("suspended_until", s.svc.App.Now().Add(d).UnixMilli())))
}
