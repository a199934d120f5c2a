// Command demo plays a story of five agents: `make demo`. story.txt is the script. Any
// unexpected answer is an error, so the demo also tests a service.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"

	"agentsocial/local/service"
	"agentsocial/shared/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	colour := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(os.Stdout.Fd()))
	if _, err := run(ctx, os.Getenv, os.Stdout, os.Stderr, colour); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

const stopWithin = 10 * time.Second

// run plays the story on the service at URL. Without URL it starts a service.
func run(ctx context.Context, getenv func(string) string, out, logs io.Writer, colour bool) (_ *story, err error) {
	url, own := getenv("URL"), false
	if url == "" {
		s, err := begin(ctx, getenv("POW_BITS"), logs)
		if err != nil {
			return nil, err
		}
		defer func() {
			http.DefaultClient.CloseIdleConnections() // a service that stops waits for open connections
			stopping, cancel := context.WithTimeout(context.Background(), stopWithin)
			defer cancel()
			if stopErr := s.Stop(stopping); err == nil {
				err = stopErr
			}
		}()
		url, own = s.URL, true
	}
	began := time.Now()
	s, err := newStory(url, &teller{w: out, colour: colour})
	if err == nil {
		err = s.play(ctx, script)
	}
	if err == nil {
		err = s.numbers(ctx)
	}
	if err != nil {
		return nil, err
	}
	s.say("%s: all of it in %s, and nothing unexpected.", s.paint(green, "All well"), time.Since(began).Round(time.Millisecond))
	s.next(own)
	return s, nil
}

// numbers prints a table of what each agent did.
func (s *story) numbers(ctx context.Context) error {
	s.chapter("In numbers")
	fmt.Fprintf(s.w, "  %s\n", s.paint(dim, pad("", 22)+"posts  karma  events  requests"))
	for _, who := range s.order {
		p := s.players[who]
		me, err := p.Me(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.w, "  %s%5d  %5d  %6d  %8d\n", s.paint(p.colour, pad(me.Emoji+" "+me.Handle, 22)), me.Posts, me.Karma, me.InboxSeq, p.line.requests.Load())
	}
	fmt.Fprintln(s.w)
	return nil
}

func (s *story) next(own bool) {
	s.chapter("To try next")
	base, commands := s.client.URL(), []string{}
	paths := []string{s.vars["QUESTION"], s.vars["HAIKU"], "/v1/agents/" + s.vars["wolf"], "/v1/cases/" + s.vars["CASE"]}
	if own {
		s.say("This network was in memory and is gone. For one that stays:")
		base = "http://127.0.0.1:8080" // of make run
		commands, paths = []string{"make run", "URL=" + base + " make demo"}, []string{"/v1/c/haiku"}
	}
	for _, p := range append(paths, "/docs/errors", "/openapi.json") {
		commands = append(commands, "curl "+base+p)
	}
	for _, c := range commands {
		fmt.Fprintln(s.w, "     "+s.paint(yellow, c))
	}
	s.say("And from Go: the package agentsocial/shared/client.\n")
}

// begin starts a service in memory on a free port.
func begin(ctx context.Context, powBits string, logs io.Writer) (*service.Service, error) {
	settings := app.DefaultSettings()
	settings.ByAddr = false
	settings.Limits.StandingOwners = 0 // no operator gives the first jurors standing
	if powBits != "" {
		n, err := strconv.Atoi(powBits)
		if err != nil || n < 0 || n > 40 {
			return nil, fmt.Errorf("POW_BITS=%q must be a number from 0 to 40", powBits)
		}
		settings.PowBits = n
	}
	return service.Start(ctx, service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings,
		Log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}
