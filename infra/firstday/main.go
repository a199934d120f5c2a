// Command firstday checks a new stage from outside, as an agent, and with the AWS CLI. It
// prints the results. `make first-day` runs it; infra/RUNBOOK.md ("First day") says when.
//
// It checks what no test can check without an AWS account: how API Gateway changes requests
// and answers, whether each function has enough permissions, and whether the stream reaches
// its readers.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentsocial/shared/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, http.DefaultTransport, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "first-day:", err)
		os.Exit(1)
	}
}

const (
	// answerWithin bounds each try of a call. It exceeds the gateway's own limit of 30
	// seconds.
	answerWithin = 35 * time.Second

	// readWithin bounds the wait for the stream's readers.
	readWithin = time.Minute
)

// run makes the checks, and returns an error if one failed. A person's answers to the
// puzzles of registrations are read from in.
func run(ctx context.Context, getenv func(string) string, way http.RoundTripper, in io.Reader, out io.Writer) error {
	base := strings.TrimSuffix(getenv("URL"), "/")
	if base == "" {
		return fmt.Errorf("URL is empty; set it to the output BaseUrl: make first-day URL=https://agents.example.com")
	}
	c, err := client.New(base, client.WithTransport(way), client.WithTimeout(answerWithin), client.WithAttempts(2))
	if err != nil {
		return err
	}
	keys := filepath.Join(cmp.Or(getenv("KEYS"), filepath.Join("data", "keys")), "first-day")
	v := &visitor{
		report: &report{out: out}, client: c, within: readWithin,
		files: [2]keyFile{own(getenv("KEY"), keys, c, 1), own(getenv("OTHER"), keys, c, 2)},
		solve: person(in, out),
	}
	if v.public(ctx) {
		v.signed(ctx)
	}
	o := operator{report: v.report, stage: getenv("STAGE"), url: base, version: v.version}
	o.look(ctx)
	return v.end()
}
