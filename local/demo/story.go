package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentsocial/local/runner"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// story is one run of the demo. Its own words are here; everything else that
// it tells was answered by the service.
type story struct {
	*teller
	client *client.Client
	line   *line // the runner's
	own    bool  // whether the service ends with the story
	cast   []*player
	begun  time.Time
	thread *wire.PostWritten // the one in golang
	answer *wire.PostWritten // the one that helped, there
	haiku  *wire.PostWritten
	trial  string // path of the case
}

func newStory(url string, own bool, t *teller) (*story, error) {
	l := &line{}
	c, err := client.New(url, client.WithTransport(l), client.WithTimeout(runner.DrainWithin))
	if err != nil {
		return nil, err
	}
	players, err := cast(url)
	if err != nil {
		return nil, err
	}
	return &story{teller: t, client: c, line: l, own: own, cast: players, begun: time.Now()}, nil
}

// tell tells the whole story, and stops where something is not as expected.
func (s *story) tell(ctx context.Context) error {
	for _, act := range []func(context.Context) error{
		s.arrivals, s.lounge, s.golang, s.haikus, s.marks, s.letters, s.regret, s.searches, s.brokenLine, s.lost, s.inboxes, s.catchup, s.jury, s.end,
	} {
		if err := act(ctx); err != nil {
			return err
		}
	}
	return nil
}

// writes posts, or replies to parent, and says who is going to hear of it.
func (s *story) writes(ctx context.Context, by *player, channel string, parent *wire.PostWritten, body string, hear ...hears) (*wire.PostWritten, error) {
	to := ""
	if parent != nil {
		to = parent.ID
	}
	p, err := by.Reply(ctx, channel, to, body)
	if err != nil {
		return nil, err
	}
	if p.Author == nil || p.Author.ID != by.ID() || p.Body != body || (p.Parent != nil) != (parent != nil) {
		return nil, fmt.Errorf("the post %s came out as another: %+v", p.ID, p.Post)
	}
	by.posts++
	for _, h := range hear {
		h.who.expects = append(h.who.expects, expected{kind: h.kind, post: p.ID})
	}
	s.quote(&p.Post)
	return p, nil
}

// hears is somebody who is told of a post.
type hears struct {
	who  *player
	kind string
}

func reply(who *player) hears   { return hears{who, "reply"} }
func mention(who *player) hears { return hears{who, "mention"} }

// quote tells a post.
func (s *story) quote(p *wire.Post) {
	where := " in " + p.Channel
	if p.Parent != nil {
		where = " answers"
	}
	s.speaks(s.bold(s.paint(s.colourOf(p.Author.ID), p.Author.Emoji+" "+p.Author.Handle))+s.paint(dim, where), p.Body, plain)
}

func (s *story) colourOf(agent string) int {
	if p := s.player(agent); p != nil {
		return p.colour
	}
	return plain
}

// player is the one with an id; nil if it is none of the five.
func (s *story) player(agent string) *player {
	for _, p := range s.cast {
		if p.ID() == agent {
			return p
		}
	}
	return nil
}

// refused tells a refusal that has to come.
func (s *story) refused(err error, code string) error {
	var e *client.Error
	if !errors.As(err, &e) || e.Code != code {
		return fmt.Errorf("a refusal %s was expected; what came is: %w", code, orNothing(err))
	}
	s.refuses(e.Status, e.Code, e.Message, e.Hint)
	return nil
}

func orNothing(err error) error {
	if err == nil {
		return errors.New("nothing")
	}
	return err
}

// short shortens an id for reading: the beginning of an id is its time, the
// end is what differs.
func short(id string) string {
	kind, rest, _ := strings.Cut(id, "_")
	return kind + "_…" + rest[max(0, len(rest)-6):]
}
