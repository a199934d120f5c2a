// Command operate looks after a table: `make audit`, `make list-balances`, `make
// operator`, `make redrive`, `make replay`, `make restore-drill` and `make restore`, with the TABLE
// and DATA of `make run`. They do the same to the embedded table, to DynamoDB Local and to a
// deployed table, TABLE=aws:NAME, for which region and credentials are found as
// AWS's own tools find them. A table in a file is one process's: stop the service
// first. What to do when is in infra/RUNBOOK.md.
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

// job is what is done to a table.
type job struct {
	*service.Table
	getenv   func(string) string
	out      io.Writer
	look     time.Duration // how often it is looked whether AWS is done
	patience time.Duration // for records of a shard that is open
}

var verbs = map[string]func(context.Context, job) error{
	"audit": audit, "list-balances": listBalances, "operator": operator, "redrive": redrive, "replay": replay, "restore": restore, "restore-drill": restoreDrill,
}

func run(ctx context.Context, verb string, getenv func(string) string, out io.Writer) error {
	do := verbs[verb]
	if do == nil {
		return fmt.Errorf("say what: one of %v", slices.Sorted(maps.Keys(verbs)))
	}
	t, err := service.OpenTable(ctx, cmp.Or(getenv("TABLE"), "embedded"), cmp.Or(getenv("DATA"), "data"))
	if err != nil {
		return err
	}
	defer t.Close()
	fmt.Fprintf(out, "  the table   %s\n", t.Where)
	return do(ctx, job{t, getenv, out, 10 * time.Second, time.Minute})
}

// at is the moment that AT names, or another if it names none.
func (j job) at(otherwise time.Time) (time.Time, error) {
	text := j.getenv("AT")
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, fmt.Errorf("AT=%q is no moment such as 2026-11-22T01:30:00Z", text)
	}
	return at, nil
}

// say writes a line.
func (j job) say(format string, args ...any) { fmt.Fprintf(j.out, "  "+format+"\n", args...) }
