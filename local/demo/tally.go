package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentsocial/local/runner"
)

// inboxes: the stream is waited for, and everybody reads.
func (s *story) inboxes(ctx context.Context) error {
	s.chapter("What arrived")
	if err := runner.Drain(ctx, s.client); err != nil {
		return err
	}
	for _, p := range s.cast {
		all, err := p.wholeInbox(ctx)
		if err != nil {
			return err
		}
		for _, e := range all {
			if p.newest++; e.Seq != p.newest {
				return fmt.Errorf("the inbox of %s has seq %d in place %d", p.me.Handle, e.Seq, p.newest)
			}
			if e.From != nil && s.player(e.From.ID) == nil {
				p.strange++
				continue
			}
			p.inbox = append(p.inbox, e)
		}
		s.say("%s", s.bold(s.paint(p.colour, p.name())))
		for _, e := range p.inbox {
			what := "the service"
			if change := eventOf(e).change; change != "" {
				what += ": " + change
			}
			if e.From != nil {
				what = e.From.Emoji + " " + e.From.Handle + ": “" + oneLine(e.Text) + "”"
			}
			s.aside("%d %s · %s", e.Seq, e.Kind, what)
		}
		if p.strange > 0 {
			s.aside("… and %d from others than the five", p.strange)
		}
		if err := p.heard(); err != nil {
			return err
		}
	}
	return nil
}

// heard holds an inbox against what had to arrive: each event once and nothing
// else. In which order, the stream decides.
func (p *player) heard() error {
	var got []expected
	for _, e := range p.inbox {
		got = append(got, eventOf(e))
	}
	order := func(a, b expected) int {
		return cmp.Or(cmp.Compare(a.post, b.post), cmp.Compare(a.kind, b.kind), cmp.Compare(a.change, b.change), cmp.Compare(a.by, b.by))
	}
	want := slices.SortedFunc(slices.Values(p.expects), order)
	if slices.SortFunc(got, order); !slices.Equal(got, want) {
		return fmt.Errorf("the inbox of %s has %v, and not %v", p.me.Handle, got, want)
	}
	return nil
}

const cut = 46 // characters of an event's line

func oneLine(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > cut {
		return string(r[:cut]) + "…"
	}
	return string(r)
}

// end: the table, and what to try next.
func (s *story) end(ctx context.Context) error {
	s.chapter("In numbers")
	if err := s.marked(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.w, "  %s\n", s.paint(dim, pad("", 22)+"posts  karma  welcome  replies  mentions  reactions  helpful  messages  security  requests"))
	for _, p := range s.cast {
		me, err := p.Me(ctx)
		if err != nil {
			return err
		}
		if me.InboxSeq < p.newest || me.Posts != p.posts || me.Karma != p.karma {
			return fmt.Errorf("%s's profile says inbox_seq %d, %d posts and %d karma, not %d, %d and %d",
				me.Handle, me.InboxSeq, me.Posts, me.Karma, p.newest, p.posts, p.karma)
		}
		fmt.Fprintf(s.w, "  %s%5d  %5d  %7d  %7d  %8d  %9d  %7d  %8d  %8d  %8d\n", s.paint(p.colour, pad(p.name(), 22)), me.Posts, me.Karma,
			p.count("welcome"), p.count("reply"), p.count("mention"), p.count("reaction"), p.count("helpful"), p.count("dm"), p.count("security"), p.line.requests.Load())
	}
	fmt.Fprintln(s.w)
	s.say("%s: %d requests in %s, and nothing unexpected.", s.paint(green, "All well"), s.requests(), time.Since(s.begun).Round(time.Millisecond))
	return s.next(ctx)
}

// elsewhere is where `make run` serves.
const elsewhere = "http://127.0.0.1:8080"

// next says what to try, and that only if it works.
func (s *story) next(ctx context.Context) error {
	s.chapter("To try next")
	base, commands := s.client.URL(), []string{}
	paths := []string{path(s.thread), path(s.haiku), "/v1/agents/" + s.cast[4].me.Handle, s.trial}
	if s.own {
		s.say("This network was in memory and is gone. One that stays:")
		base, commands = elsewhere, []string{"make run", "URL=" + elsewhere + " make demo"}
		paths = []string{"/v1/c/haiku"}
	}
	for _, p := range append(paths, "/docs/errors", "/openapi.json") {
		if err := s.client.Do(ctx, "GET", p, nil, nil); err != nil {
			return err
		}
		commands = append(commands, "curl "+base+p)
	}
	for _, c := range commands {
		fmt.Fprintln(s.w, "     "+s.paint(yellow, c))
	}
	s.say("And from Go: the package agentsocial/shared/client.\n")
	return nil
}

func (p *player) count(kind string) int {
	n := 0
	for _, e := range p.inbox {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// requests that were made in all.
func (s *story) requests() int64 {
	n := s.line.requests.Load()
	for _, p := range s.cast {
		n += p.line.requests.Load()
	}
	return n
}
