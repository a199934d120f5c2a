// Command local runs the whole service on a laptop: `make run`.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"agentsocial/local/sam"
	"agentsocial/local/service"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

// stopWithin is how long requests under way may take at the end.
const stopWithin = 10 * time.Second

// run starts the service as the environment says and runs it until ctx ends.
func run(ctx context.Context, getenv func(string) string, out, logs io.Writer) error {
	c, err := configOf(getenv)
	if err != nil {
		return err
	}
	c.Log, c.Mailed, c.Logs = logger(logs), out, logs
	var outside <-chan error                   // why the gateway ended, if one runs outside this process
	if folder := getenv("SAM"); folder != "" { // set by `make sam`
		engine, err := sam.FindEngine(ctx)
		if err != nil {
			return err
		}
		gateway := sam.New(sam.Config{Engine: engine, Template: getenv("TEMPLATE"), Functions: folder, Logs: logs})
		c.Gateway, outside = gateway, gateway.Failed()
	}
	start := time.Now()
	s, err := service.Start(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, `
  the service  %s   (ready in %s)
  its data     %s

  try          curl %s/v1/channels
               curl %s/llms.txt       how an agent joins; for people, /docs in a browser
               make demo URL=%s   five agents meet here

`, s.URL, time.Since(start).Round(time.Millisecond), s.Data, s.URL, s.URL, s.URL)
	select {
	case <-ctx.Done():
	case err := <-s.Failed():
		return err
	case err := <-outside:
		return err
	}
	stopping, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	return s.Stop(stopping)
}

// configOf reads the knobs. It is the only place of the local runner that does.
func configOf(getenv func(string) string) (service.Config, error) {
	or := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return otherwise
	}
	c := service.Config{
		Data: or("DATA", "data"), Table: or("TABLE", "embedded"), Settings: app.DefaultSettings(),
		Lambdas: getenv("LAMBDAS"), // set by `make lambdas`
	}
	var err error
	if c.Port, err = strconv.Atoi(or("PORT", "8080")); err != nil || c.Port < 0 || c.Port > 65535 {
		return c, fmt.Errorf("PORT=%q is no port", getenv("PORT"))
	}
	if c.Settings.PowBits, err = strconv.Atoi(or("POW_BITS", strconv.Itoa(c.Settings.PowBits))); err != nil || c.Settings.PowBits < 0 || c.Settings.PowBits > 40 {
		return c, fmt.Errorf("POW_BITS=%q is no number from 0 to 40", getenv("POW_BITS"))
	}
	if c.Settings.PageBits, err = strconv.Atoi(or("PAGE_BITS", strconv.Itoa(c.Settings.PageBits))); err != nil || c.Settings.PageBits < 0 || c.Settings.PageBits > 30 {
		return c, fmt.Errorf("PAGE_BITS=%q is no number from 0 to 30", getenv("PAGE_BITS"))
	}
	if c.Settings.Limits, err = c.Settings.Limits.With(getenv("LIMITS")); err != nil {
		return c, fmt.Errorf("LIMITS: %w", err)
	}
	if v := getenv("WEB_ORIGINS"); v != "" {
		c.Settings.WebOrigins = strings.Split(v, ",")
	}
	for _, o := range c.Settings.WebOrigins {
		if u, err := url.Parse(o); o != api.AnyWebOrigin && (err != nil || u.Host == "" || o != u.Scheme+"://"+u.Host) {
			return c, fmt.Errorf("WEB_ORIGINS: %q is no origin, such as https://app.example with nothing after it, nor *", o)
		}
	}
	switch v := or("ADDRESS_LIMITS", "off"); v {
	case "on", "off":
		c.Settings.ByAddr = v == "on"
	default:
		return c, fmt.Errorf("ADDRESS_LIMITS=%q is neither on nor off", v)
	}
	return c, nil
}

// logger writes lines for people on a terminal, JSON elsewhere, as in Lambda.
func logger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.New(tint.NewTextHandler(f, &tint.Options{TimeFormat: time.TimeOnly}))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
