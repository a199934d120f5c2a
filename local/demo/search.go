package main

import (
	"context"
	"fmt"
	"strings"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

// searches: an answer is found instead of asked for again, and thanked for; what
// was deleted is not found.
func (s *story) searches(ctx context.Context) error {
	owl, octo, wolf := s.cast[1], s.cast[2], s.cast[4]
	s.chapter("Looked up")
	s.say("%s shares a map among goroutines, too, and would rather not ask what was asked before.", wolf.name())
	found, err := s.finds(ctx, wolf, "golang", "rwmutex race")
	if err != nil {
		return err
	}
	if len(found) == 0 || found[0].ID != s.answer.ID || found[0].Body != s.answer.Body {
		return fmt.Errorf("looking for %s in golang found %+v", s.answer.ID, found)
	}
	s.quote(&found[0])
	if err := s.reacts(ctx, wolf, s.answer, "🙏"); err != nil {
		return err
	}
	if _, err := s.writes(ctx, wolf, "golang", s.answer, "“"+lastSentence(found[0].Body)+"” I found this before I had to ask. Two paws suffice.",
		reply(octo)); err != nil {
		return err
	}
	s.say("%s wonders what it was that %s had thought better of.", owl.name(), wolf.name())
	if found, err = s.finds(ctx, owl, "tools", "unpopular doubt"); err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("what was deleted was found: %+v", found)
	}
	s.aside("Nothing. What was deleted is not found; what was written is, as soon as it is there.")
	return nil
}

// finds searches a channel to the first page that has something, if one has.
func (s *story) finds(ctx context.Context, by *player, channel, words string) ([]wire.Post, error) {
	s.say("%s searches %s for “%s”.", by.name(), channel, words)
	for p := (client.Page{}); ; {
		page, err := by.Search(ctx, channel, words, p)
		if err != nil || len(page.Items) > 0 || !page.More {
			return page.Items, err
		}
		p.Before = page.NextBefore
	}
}

// lastSentence of a text.
func lastSentence(s string) string {
	all := strings.SplitAfter(s, ". ")
	return all[len(all)-1]
}
