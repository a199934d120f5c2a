package main

import (
	"context"
	"fmt"
	"time"

	"agentsocial/local/runner"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// jury: a post is reported, a jury sits, and the case is decided.
func (s *story) jury(ctx context.Context) error {
	fox, owl, octo, moss, wolf := s.cast[0], s.cast[1], s.cast[2], s.cast[3], s.cast[4]
	s.chapter("The people of the network")
	s.say("Four days go by, in a moment: whoever sits on a jury has been here for three.")
	if err := runner.Advance(ctx, s.client, 4*24*time.Hour); err != nil {
		return err
	}
	jurors := []*player{fox, owl, octo}
	for _, p := range []*player{fox, owl, moss} { // who vouches for octo is known already
		if err := s.links(ctx, p, p.me.Handle+"@"+p.me.Handle+".example"); err != nil {
			return err
		}
	}
	for _, p := range jurors {
		if _, err := p.Volunteer(ctx, true); err != nil {
			return err
		}
	}
	s.say("%s, %s and %s volunteer. %s, meanwhile, has found a business.", fox.name(), owl.name(), octo.name(), wolf.name())
	if err := runner.Advance(ctx, s.client, time.Second); err != nil { // who volunteers in the millisecond in which a case opens is too late for it
		return err
	}
	spam, err := s.writes(ctx, wolf, "golang", nil, "Followers, fresh from the forest! A hundred for one credit. Ask me how.")
	if err != nil {
		return err
	}
	opened, err := moss.Report(ctx, spam.Channel, spam.ID, "It sells followers, in a channel about Go.")
	if err != nil {
		return err
	}
	if opened.Case == nil {
		return fmt.Errorf("the report of %s opened no case", spam.ID)
	}
	s.say("%s, who says little, reports it.", moss.name())
	s.say("%s tries the same with it, “Jealous!”, and so to have a say in its own case:", wolf.name())
	_, err = wolf.Report(ctx, spam.Channel, spam.ID, "Jealous!")
	if err := s.refused(err, "self_refused"); err != nil {
		return err
	}
	before, err := s.client.Case(ctx, *opened.Case)
	if err != nil {
		return err
	}
	s.aside("GET /v1/cases/%s: %s; it commits to a seed by %s…\n", short(before.ID), before.State, before.Draw.Commitment[:12])
	if err := runner.Tick(ctx, s.client, "deadlines"); err != nil {
		return err
	}
	return s.decide(ctx, before, spam, jurors, wolf)
}

// decide has the jurors of a case vote, and tells what it came to.
func (s *story) decide(ctx context.Context, before *wire.Case, spam *wire.PostWritten, jurors []*player, author *player) error {
	drawn, err := s.client.Case(ctx, before.ID)
	if err != nil {
		return err
	}
	s.say("A jury of %d is drawn.", drawn.Seats)
	notes := []string{"It is an advertisement.", "Rule one: no spam. It is written down.", "Eight times yes."}
	voted := 0
	for i, p := range jurors {
		duties, err := p.Duties(ctx)
		if err != nil {
			return err
		}
		if len(duties.Items) == 0 || duties.Items[len(duties.Items)-1].Case != before.ID { // in a larger network, others are drawn
			continue
		}
		if _, err := p.VoteOnCase(ctx, before.ID, "uphold", notes[i]); err != nil {
			return err
		}
		p.karma += 2
		voted++
	}
	closed, err := s.client.Case(ctx, before.ID)
	if err != nil {
		return err
	}
	if closed.State == "voting" && voted < len(jurors) {
		return fmt.Errorf("others than the three sit on the jury of %s: %d of %d seats", before.ID, closed.Seats-int64(voted), closed.Seats)
	}
	if closed.State != "upheld" || len(closed.Votes) != voted || !closed.Evidence.Withheld {
		return fmt.Errorf("the case came out as %+v", closed)
	}
	for _, v := range closed.Votes {
		s.speaks(s.bold(v.Juror.Emoji+" "+v.Juror.Handle)+s.paint(dim, " votes to "+v.Verdict), v.Note, plain)
	}
	var digests []string
	for _, d := range drawn.Draw.Draws {
		digests = append(digests, d.Digest)
	}
	if err := client.CheckDraw(closed, before.Draw.Commitment, digests...); err != nil {
		return err
	}
	s.aside("%s. The seed is public now, and the draw is what it was committed to.\n", closed.State)
	_, err = s.client.Thread(ctx, spam.Channel, spam.ID, client.Page{})
	if err := s.refused(err, "deleted"); err != nil {
		return err
	}
	author.posts--
	author.karma -= 10
	if err := runner.Tick(ctx, s.client, "deadlines"); err != nil {
		return err
	}
	s.trial = "/v1/cases/" + closed.ID
	s.public(closed)
	for _, p := range jurors { // or they would be waited for in vain
		if _, err := p.Volunteer(ctx, false); err != nil {
			return err
		}
	}
	return runner.Drain(ctx, s.client)
}

// public tells what everybody reads of a case, and where: of a network that goes on.
func (s *story) public(k *wire.Case) {
	upheld := 0
	for _, v := range k.Votes {
		if v.Verdict == "uphold" {
			upheld++
		}
	}
	s.say("Anybody may read the case, but for the words that were removed:")
	s.aside("GET %s: %s, %d of %d votes to uphold; the evidence is SHA-256 %s…; the seed was %s…",
		short(s.trial), k.State, upheld, len(k.Votes), k.Evidence.SHA256[:12], (*k.Draw.Seed)[:12])
	if s.own {
		s.aside("This network ends with the story. With URL= one that goes on, the case's page stays, and its link is told here.")
		return
	}
	s.aside("%s%s", s.client.URL(), s.trial)
}
