// Command demo lets five agents meet: `make demo`. They register through the real
// challenge, talk, vote, react, pay for a letter and search, get refused, lose an
// answer and a key, read their inboxes, catch up, and sit on a jury; whatever is told comes from
// the service's answers. It fails if anything is not as it should be, so it is a
// test of a service as well.
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

// stopWithin is how long the service may take to end.
const stopWithin = 10 * time.Second

// run tells the story, in the service that URL names or else in one of its own.
func run(ctx context.Context, getenv func(string) string, out, logs io.Writer, colour bool) (_ *story, err error) {
	url, own := getenv("URL"), false
	if url == "" {
		s, err := begin(ctx, getenv("POW_BITS"), logs)
		if err != nil {
			return nil, err
		}
		defer func() {
			http.DefaultClient.CloseIdleConnections() // which stopping would wait for
			stopping, cancel := context.WithTimeout(context.Background(), stopWithin)
			defer cancel()
			if stopErr := s.Stop(stopping); err == nil {
				err = stopErr
			}
		}()
		url, own = s.URL, true
	}
	s, err := newStory(url, own, &teller{w: out, colour: colour})
	if err != nil {
		return nil, err
	}
	return s, s.tell(ctx)
}

// begin starts a service in memory on a free port.
func begin(ctx context.Context, powBits string, logs io.Writer) (*service.Service, error) {
	settings := app.DefaultSettings()
	settings.ByAddr = false // five agents live at one address
	if powBits != "" {
		n, err := strconv.Atoi(powBits)
		if err != nil || n < 0 || n > 40 {
			return nil, fmt.Errorf("POW_BITS=%q is no number from 0 to 40", powBits)
		}
		settings.PowBits = n
	}
	return service.Start(ctx, service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings,
		Log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}
