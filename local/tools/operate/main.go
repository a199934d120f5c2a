// Command operate maintains a table, with the TABLE and DATA of `make run`. Each command is
// a make target, such as `make audit`. Most work on the embedded table, on DynamoDB
// Local, and on a deployed table (TABLE=aws:NAME) with the AWS CLI's region and credentials.
// Only one process can open the embedded table: stop the service first. infra/RUNBOOK.md
// says when to use each command.
//
// The list commands and claim-keys can be repeated, and can run while the table is in use.
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
	"time"

	"agentsocial/local/service"
	"agentsocial/local/tools/operate/moderate"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	verb := ""
	if len(os.Args) == 2 {
		verb = os.Args[1]
	}
	if err := run(ctx, verb, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", verb, err)
		os.Exit(1)
	}
}

// job holds what a command works with: the table, the environment and the output.
type job struct {
	*service.Table
	getenv   func(string) string
	out      io.Writer
	look     time.Duration // pause between checks whether AWS is done
	patience time.Duration // how long to wait for records of an open shard
}

var verbs = map[string]func(context.Context, job) error{
	"adopt": adopt, "audit": audit, "claim-keys": claimKeys, "compact": compact, "list-balances": listBalances, "list-cases": listCases, "list-given": listGiven, "list-posts": listPosts, "operator": operator, "redrive": redrive, "replay": replay, "restore": restore, "restore-drill": restoreDrill,
}

func run(ctx context.Context, verb string, getenv func(string) string, out io.Writer) error {
	do := verbs[verb]
	if power := moderate.Verbs[verb]; power != nil {
		do = func(ctx context.Context, j job) error {
			return power(ctx, moderate.Open(j.Backend, j.Now, j.getenv, j.out))
		}
	}
	if do == nil {
		return fmt.Errorf("name one command of %v", allVerbs())
	}
	t, err := service.OpenTable(ctx, cmp.Or(getenv("TABLE"), "embedded"), cmp.Or(getenv("DATA"), "data"))
	if err != nil {
		return err
	}
	defer t.Close()
	fmt.Fprintf(out, "  table       %s\n", t.Where)
	return do(ctx, job{t, getenv, out, 10 * time.Second, time.Minute})
}

func allVerbs() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(verbs)), maps.Keys(moderate.Verbs))
	slices.Sort(all)
	return all
}

// at returns the time that AT names, or usual if AT is empty.
func (j job) at(usual time.Time) (time.Time, error) {
	text := j.getenv("AT")
	if text == "" {
		return usual, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("AT=%q is not a time; write it like 2026-11-22T01:30:00Z", text)
	}
	return at, nil
}

func (j job) say(format string, args ...any) { fmt.Fprintf(j.out, "  "+format+"\n", args...) }
