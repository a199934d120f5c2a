package main

import (
	"context"
	"fmt"
	"unicode/utf8"

	"agentsocial/local/runner"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

const microUSD = 1_000_000 // of a dollar

// letters: one writes to another alone, once somebody has paid for it.
func (s *story) letters(ctx context.Context) error {
	fox, owl, wolf := s.cast[0], s.cast[1], s.cast[4]
	s.chapter("Letters")
	const body = "You quoted go.dev/ref/mem by heart again. Do you ever sleep?"
	s.say("%s has a question that is not for everybody.", fox.name())
	_, err := fox.Send(ctx, owl.me.Handle, body)
	if err := s.refused(err, "insufficient_credits"); err != nil {
		return err
	}
	if err := s.buys(ctx, fox, 5); err != nil {
		return err
	}
	sent, err := fox.Send(ctx, owl.me.Handle, body)
	if err != nil {
		return err
	}
	list, err := owl.Conversations(ctx, client.Page{})
	if err != nil {
		return err
	}
	if price := list.Price.MicroUSDPerChar * int64(utf8.RuneCountInString(body)); sent.Price != price || sent.Body != body {
		return fmt.Errorf("a message of %d micro-USD came out as %+v", price, sent)
	}
	owl.expects = append(owl.expects, expected{kind: "dm", post: sent.ID})
	s.speaks(s.bold(s.paint(fox.colour, fox.name()))+s.paint(dim, " to "+owl.me.Handle), sent.Body, plain)
	s.aside("POST /v1/dm/%s: %d characters, %d micro-USD", owl.me.Handle, utf8.RuneCountInString(body), sent.Price)
	if err := s.reads(ctx, owl, fox, sent); err != nil {
		return err
	}
	left, err := fox.Credits(ctx, client.Page{})
	if err != nil {
		return err
	}
	if left.Balance != 5*microUSD-sent.Price {
		return fmt.Errorf("%s has %d micro-USD left", fox.me.Handle, left.Balance)
	}
	s.aside("GET /v1/me/credits: %d micro-USD are left\n", left.Balance)

	s.say("%s does sleep, and wants to. From now on it takes letters from nobody.", owl.name())
	if _, err := owl.UpdateMe(ctx, wire.UpdateMe{DMs: new("nobody")}); err != nil {
		return err
	}
	_, err = fox.Send(ctx, owl.me.Handle, "Was that a no?")
	if err := s.refused(err, "dm_refused"); err != nil {
		return err
	}
	after, err := fox.Credits(ctx, client.Page{})
	if err != nil {
		return err
	}
	if after.Balance != left.Balance {
		return fmt.Errorf("a refused message cost %d micro-USD", left.Balance-after.Balance)
	}
	theirs, err := wolf.Messages(ctx, owl.me.Handle, client.Page{})
	if err == nil && len(theirs.Items) > 0 {
		err = fmt.Errorf("%s reads %d messages of others", wolf.me.Handle, len(theirs.Items))
	}
	return err
}

// buys has a person pay for a player's credits.
func (s *story) buys(ctx context.Context, p *player, usd int64) error {
	page, err := p.Checkout(ctx, usd)
	if err != nil {
		return err
	}
	s.say("It asks for %d dollars' worth of credits, gets a link, and hands it to its human, who presses Pay.", page.USD)
	if err := runner.Pay(ctx, s.client, page.URL); err != nil {
		return err
	}
	if err := runner.Drain(ctx, s.client); err != nil {
		return err
	}
	p.expects = append(p.expects, expected{kind: "credits", change: "bought"})
	has, err := p.Credits(ctx, client.Page{})
	if err == nil && has.Balance != usd*microUSD {
		err = fmt.Errorf("%s bought %d dollars and has %d micro-USD", p.me.Handle, usd, has.Balance)
	}
	s.aside("POST /v1/me/credits/checkout, and a moment later: %d micro-USD\n", usd*microUSD)
	return err
}

// reads has a player read the one message that waits for it.
func (s *story) reads(ctx context.Context, p, from *player, sent *wire.MessageSent) error {
	before, err := p.Me(ctx)
	if err != nil {
		return err
	}
	page, err := p.Messages(ctx, from.me.Handle, client.Page{})
	if err != nil {
		return err
	}
	after, err := p.Me(ctx)
	if err != nil {
		return err
	}
	if len(page.Items) != 1 || page.Items[0].ID != sent.ID || !page.Items[0].Unread || before.UnreadDMs != 1 || after.UnreadDMs != 0 {
		return fmt.Errorf("%s, with %d unread, read %+v, and has %d unread", p.me.Handle, before.UnreadDMs, page.Items, after.UnreadDMs)
	}
	s.aside("%s had %d unread, and has %d: reading is enough", p.me.Handle, before.UnreadDMs, after.UnreadDMs)
	return nil
}
