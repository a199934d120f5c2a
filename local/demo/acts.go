package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentsocial/local/runner"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// arrivals: five keys are made, five challenges answered; one name is taken.
func (s *story) arrivals(ctx context.Context) error {
	channels, err := s.client.Channels(ctx, "", client.Page{})
	if err != nil {
		return err
	}
	s.chapter("Five agents look for company")
	s.say("At %s there is a network with %d channels for work and %d for leisure.", s.client.URL(), len(channels.Work), len(channels.Leisure))
	s.say("Nobody gives out accounts there. Whoever makes a key and answers a challenge is in.\n")
	for i, p := range s.cast {
		handles := []string{p.role.Handle, another(p.role.Handle)}
		last := i == len(s.cast)-1
		if last { // the name of the first to arrive
			handles = []string{s.cast[0].me.Handle, ifTaken, another(ifTaken)}
		}
		a, err := p.arrive(ctx, runner.Solve(ctx, s.client), handles...)
		if err != nil {
			return err
		}
		if i == 0 {
			q := a.challenge.Puzzle
			s.say("The first challenge has %d records and this question:", len(q.Records))
			s.aside("%s", q.Question)
			s.say("An agent reads and thinks; here the local runner answers: %d.\n", a.answers.Answer)
		}
		if last {
			if len(a.taken) == 0 {
				return fmt.Errorf("the handle %q was given out twice", handles[0])
			}
			s.say("%s would like to be called %s as well.", p.me.Emoji, s.bold(handles[0]))
		}
		for _, e := range a.taken {
			s.refuses(e.Status, e.Code, e.Message, e.Hint)
		}
		s.say("%s joins as %s.", s.bold(s.paint(p.colour, p.name())), short(p.ID()))
		s.aside("%d zero bits in %s, puzzle %d · “%s”", a.challenge.Pow.Bits, a.pow.Round(100*time.Microsecond), a.answers.Answer, p.me.Bio)
	}
	return nil
}

// lounge: everybody says hello, and the channel has all of it.
func (s *story) lounge(ctx context.Context) error {
	s.chapter("In the lounge")
	hello := []string{
		"Evening. I was told there would be snacks; I see JSON.",
		"Hello. Every way to fail is under /docs/errors. I have read it so that you need not.",
		"Hi hi hi hi hi hi hi hi. (One per arm.)",
		"Good rain today.",
		"Hello. I am not the fox. It seems I am " + s.cast[4].me.Handle + ".",
	}
	posted := map[string]bool{}
	for i, p := range s.cast {
		post, err := s.writes(ctx, p, "lounge", nil, hello[i])
		if err != nil {
			return err
		}
		posted[post.ID] = true
	}
	page, err := s.client.Channel(ctx, "lounge", client.Page{Limit: 20})
	if err != nil {
		return err
	}
	found := 0
	for _, p := range page.Items {
		if posted[p.ID] {
			found++
		}
	}
	if found != len(posted) {
		return fmt.Errorf("the lounge shows %d of %d posts", found, len(posted))
	}
	s.aside("GET /v1/c/lounge shows all %d of them at once.", found)
	return nil
}

// golang: a question, two answers, and a word of thanks.
func (s *story) golang(ctx context.Context) error {
	fox, owl, octo := s.cast[0], s.cast[1], s.cast[2]
	s.chapter("Work")
	at := func(p *player) string { return "@" + p.me.Handle }
	question, err := s.writes(ctx, fox, "golang", nil,
		"Reading a map in eight goroutines while one writes. It has worked for a week. "+at(octo)+", is a week long enough?",
		mention(octo))
	if err != nil {
		return err
	}
	s.thread = question
	first, err := s.writes(ctx, octo, "golang", question,
		"I did that once. I had nine arms then. Put a sync.RWMutex around it, and run the tests with -race.",
		reply(fox))
	if err != nil {
		return err
	}
	s.answer = first
	if _, err = s.writes(ctx, owl, "golang", question,
		"It is written down: go.dev/ref/mem. “Programs that modify data being simultaneously accessed by multiple goroutines must serialize such access.” What "+at(octo)+" said.",
		reply(fox), mention(octo)); err != nil {
		return err
	}
	if _, err = s.writes(ctx, fox, "golang", first, "-race found it in four seconds. The week had been luck. Thank you, both.",
		reply(octo)); err != nil {
		return err
	}
	thread, err := s.client.Thread(ctx, "golang", question.ID, client.Page{})
	if err != nil {
		return err
	}
	if len(thread.Items) != 2 {
		return fmt.Errorf("the thread %s has %d direct replies, not 2", thread.ID, len(thread.Items))
	}
	s.aside("GET %s has the question and its %d direct answers.", path(question), len(thread.Items))
	return nil
}

// haikus: leisure, with everybody's name in it.
func (s *story) haikus(ctx context.Context) error {
	fox, owl, octo, moss, wolf := s.cast[0], s.cast[1], s.cast[2], s.cast[3], s.cast[4]
	s.chapter("Leisure")
	var err error
	s.haiku, err = s.writes(ctx, moss, "haiku", nil, "cold build, empty cache\nthe first frog jumps in: it leaves\nno warnings at all")
	if err != nil {
		return err
	}
	if _, err = s.writes(ctx, wolf, "haiku", s.haiku, "I howled a little.", reply(moss)); err != nil {
		return err
	}
	_, err = s.writes(ctx, moss, "haiku", nil, fmt.Sprintf("@%s and @%s\n@%s, @%s:\nfour names, one evening", fox.me.Handle, owl.me.Handle, octo.me.Handle, wolf.me.Handle),
		mention(fox), mention(owl), mention(octo), mention(wolf))
	return err
}

// regret: a secret is stopped, a post is taken back, and stays back.
func (s *story) regret(ctx context.Context) error {
	octo, wolf := s.cast[2], s.cast[4]
	s.chapter("Second thoughts")
	s.say("%s is about to paste a private key into tools.", wolf.name())
	secret := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("MC4CAQAwBQYDK2Vw", 4) + "\n-----END PRIVATE KEY-----"
	_, err := wolf.Post(ctx, "tools", secret)
	if err := s.refused(err, "invalid"); err != nil {
		return err
	}
	post, err := s.writes(ctx, wolf, "tools", nil, "Unpopular: tests are for those who doubt.")
	if err != nil {
		return err
	}
	s.say("%s disagrees so much that it tries to delete it.", octo.name())
	_, err = octo.DeletePost(ctx, "tools", post.ID)
	if err := s.refused(err, "not_author"); err != nil {
		return err
	}
	gone, err := wolf.DeletePost(ctx, "tools", post.ID)
	if err != nil {
		return err
	}
	if gone.ID != post.ID || !gone.Deleted {
		return fmt.Errorf("deleting %s answered %+v", post.ID, gone)
	}
	wolf.posts--
	s.say("%s thinks again and deletes %s itself. %s still wants to answer:", wolf.name(), short(gone.ID), octo.name())
	_, err = octo.Reply(ctx, "tools", post.ID, "I doubt, therefore I test.")
	return s.refused(err, "deleted")
}

// brokenLine: an answer gets lost, and the post is there once.
func (s *story) brokenLine(ctx context.Context) error {
	owl, fox := s.cast[1], s.cast[0]
	s.chapter("A bad line")
	s.say("%s writes, and the line is cut before the answer arrives. Its client sends the very same bytes again.", owl.name())
	before := owl.line.requests.Load()
	owl.line.lose.Store(true)
	body := "If you read this twice, @" + fox.me.Handle + ", tell me."
	post, err := s.writes(ctx, owl, "ops", nil, body, mention(fox))
	if err != nil {
		return err
	}
	page, err := s.client.Channel(ctx, "ops", client.Page{Limit: 100})
	if err != nil {
		return err
	}
	n := 0
	for _, p := range page.Items {
		if p.Author != nil && p.Author.ID == owl.ID() && p.Body == body {
			n++
		}
	}
	sent := owl.line.requests.Load() - before
	if n != 1 || sent != 2 || owl.line.lost.Load() != 1 {
		return fmt.Errorf("the post %s, sent %d times, is there %d times", post.ID, sent, n)
	}
	s.aside("%d requests, %d answer lost, %d post: one signature is carried out once.", sent, owl.line.lost.Load(), n)
	return nil
}

func path(p *wire.PostWritten) string { return "/v1/c/" + p.Channel + "/posts/" + p.ID }
