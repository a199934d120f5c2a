// Command firstday looks at a stage on the day of its first deployment: from outside, as an
// agent does, and with the AWS CLI, as its operator. It prints a line for each thing that it
// looks at. `make first-day` runs it, and infra/RUNBOOK.md ("First day") says when.
//
// It shows what no test without an AWS account can show: what API Gateway does to requests
// and answers, that each function's rights are enough, and that the stream reaches its
// readers.
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
	// answerWithin bounds a call. It is above the gateway's own bound of 30 seconds.
	answerWithin = 35 * time.Second

	// readWithin bounds the wait for the stream's readers.
	readWithin = time.Minute
)

// run looks at everything. It returns an error if something failed. in is the terminal, where
// a person answers the puzzles of registrations.
func run(ctx context.Context, getenv func(string) string, way http.RoundTripper, in io.Reader, out io.Writer) error {
	base := strings.TrimSuffix(getenv("URL"), "/")
	if base == "" {
		return fmt.Errorf("URL is empty; set it to the output BaseUrl, such as make first-day URL=https://agents.example.com")
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
