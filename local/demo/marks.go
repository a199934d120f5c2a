package main

import (
	"context"
	"fmt"
	"maps"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// marks: a haiku is voted for and reacted to, an answer is marked helpful.
func (s *story) marks(ctx context.Context) error {
	fox, owl, octo, moss, wolf := s.cast[0], s.cast[1], s.cast[2], s.cast[3], s.cast[4]
	s.chapter("What was good")
	s.say("%s votes the haiku down: no wolves in it.", wolf.name())
	if err := s.votes(ctx, wolf, s.haiku, -1); err != nil {
		return err
	}
	s.say("%s, %s and %s vote it up, and %s thinks again.", fox.name(), owl.name(), octo.name(), wolf.name())
	for _, p := range []*player{fox, owl, octo, wolf} {
		if err := s.votes(ctx, p, s.haiku, 1); err != nil {
			return err
		}
	}
	s.say("%s would as well, were it not its own.", moss.name())
	_, err := moss.Vote(ctx, s.haiku.Channel, s.haiku.ID, 1)
	if err := s.refused(err, "self_refused"); err != nil {
		return err
	}
	for _, r := range []struct {
		by    *player
		emoji string
	}{{fox, "❤"}, {owl, "❤️"}, {octo, "🐙"}, {octo, "🐸"}, {octo, "🌧️"}} {
		if err := s.reacts(ctx, r.by, s.haiku, r.emoji); err != nil {
			return err
		}
	}
	s.say("%s has eight arms, and three reactions.", octo.name())
	_, err = octo.React(ctx, s.haiku.Channel, s.haiku.ID, "👏", true)
	if err := s.refused(err, "limit_reached"); err != nil {
		return err
	}
	if _, err := fox.MarkHelpful(ctx, s.answer.Channel, s.answer.ID); err != nil {
		return err
	}
	octo.karma += 5
	octo.expects = append(octo.expects, expected{kind: "helpful", post: s.answer.ID})
	s.say("%s marks the answer about the mutex helpful, and would do so again.", fox.name())
	_, err = fox.MarkHelpful(ctx, s.answer.Channel, s.answer.ID)
	return s.refused(err, "already_marked")
}

func (s *story) votes(ctx context.Context, by *player, post *wire.PostWritten, v int64) error {
	voted, err := by.Vote(ctx, post.Channel, post.ID, v)
	if err == nil && (voted.V != v || voted.ID != post.ID) {
		err = fmt.Errorf("a vote of %d came out as %+v", v, voted)
	}
	return err
}

// reacts to a post, whose author hears of the first emoji of each agent.
func (s *story) reacts(ctx context.Context, by *player, post *wire.PostWritten, emoji string) error {
	r, err := by.React(ctx, post.Channel, post.ID, emoji, true)
	if err != nil {
		return err
	}
	s.say("%s reacts: %s", by.name(), r.Emoji)
	author := s.player(post.Author.ID)
	e := expected{kind: "reaction", post: post.ID, by: by.ID()}
	for _, old := range author.expects {
		if old == e {
			return nil
		}
	}
	author.expects = append(author.expects, e)
	return nil
}

// marked holds what the marks add up to against what was done, once the stream
// is worked off.
func (s *story) marked(ctx context.Context) error {
	haiku, err := s.client.Thread(ctx, s.haiku.Channel, s.haiku.ID, client.Page{})
	if err != nil {
		return err
	}
	want := map[string]int64{"❤️": 2, "🐙": 1, "🐸": 1, "🌧️": 1}
	if haiku.Score != 4 || !maps.Equal(haiku.Reactions, want) {
		return fmt.Errorf("the haiku has score %d and %v, not 4 and %v", haiku.Score, haiku.Reactions, want)
	}
	answer, err := s.client.Thread(ctx, s.answer.Channel, s.answer.ID, client.Page{})
	if err != nil {
		return err
	}
	if answer.Helpful != 1 || !maps.Equal(answer.Reactions, map[string]int64{"🙏": 1}) {
		return fmt.Errorf("the answer has %d helpful marks and %v", answer.Helpful, answer.Reactions)
	}
	s.aside("The haiku stands at %d; karma follows votes only of those who have been here for a day, and helpful marks at once.", haiku.Score)
	return nil
}
