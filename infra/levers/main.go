// Command levers changes a running stage without a deployment. It throttles callers, stops
// writes, readers and functions, and restores what the deployed template says.
// infra/RUNBOOK.md ("Levers") describes each lever.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"agentsocial/infra/awscli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	verb := ""
	if len(os.Args) == 2 {
		verb = os.Args[1]
	}
	if err := run(ctx, verb, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", cmp.Or(verb, "levers"), err)
		os.Exit(1)
	}
}

// job is the input of a lever.
type job struct {
	awscli.CLI
	stage  string
	stack  *awscli.Stack
	getenv func(string) string
	out    io.Writer
}

var verbs = map[string]func(context.Context, job) error{
	"levers":   list,
	"throttle": throttle, "unthrottle": unthrottle,
	"stop-writes": stopWrites, "start-writes": startWrites,
	"stop-reader": stopReader, "start-reader": startReader,
	"stop-function": stopFunction, "start-function": startFunction,
}

func run(ctx context.Context, verb string, getenv func(string) string, out io.Writer) error {
	do := verbs[verb]
	if do == nil {
		return fmt.Errorf("got the verb %q, want one of %q", verb, slices.Sorted(maps.Keys(verbs)))
	}
	j, err := open(ctx, cmp.Or(getenv("STAGE"), "prod"))
	if err != nil {
		return err
	}
	j.getenv, j.out = getenv, out
	return do(ctx, j)
}

func open(ctx context.Context, stage string) (job, error) {
	j := job{stage: stage}
	stack, err := j.Deployed(ctx, stage)
	j.stack = stack
	return j, err
}

func (j job) say(format string, args ...any) { fmt.Fprintf(j.out, format+"\n", args...) }
