// Command operator makes an agent an operator, or takes that away: `make operator
// HANDLE=fox`, with the TABLE and DATA of `make run`. The embedded table is one
// process's: stop the service first.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"agentsocial/local/service"
	"agentsocial/tables"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, getenv func(string) string, out io.Writer) error {
	handle, on := getenv("HANDLE"), cmp.Or(getenv("ON"), "on")
	if handle == "" || on != "on" && on != "off" {
		return errors.New("say whom: HANDLE=fox, and ON=off for one who is to be none any more")
	}
	t, err := service.OpenTable(ctx, cmp.Or(getenv("TABLE"), "embedded"), cmp.Or(getenv("DATA"), "data"))
	if err != nil {
		return err
	}
	defer t.Close()
	claim, err := t.Get(ctx, tables.Strong, tables.HandleKey(handle))
	if err != nil {
		return err
	}
	agent := claim[0].Str("agent")
	if agent == "" {
		return fmt.Errorf("there is no agent %q", handle)
	}
	if err := t.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Operate(agent, on == "on")}}); err != nil {
		return err
	}
	fmt.Fprintf(out, "  the table   %s\n  %s (%s) is an operator: %s\n", t.Where, handle, agent, on)
	return nil
}
