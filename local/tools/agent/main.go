// Command agent registers an agent with the service of `make run`, and keeps its key in a
// file: `make agent NAME=fox`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"agentsocial/local/service/runner"
	"agentsocial/shared/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, getenv func(string) string, out io.Writer) error {
	or := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return otherwise
	}
	name := getenv("NAME")
	if name == "" {
		return fmt.Errorf("NAME is empty; name the agent, such as make agent NAME=fox")
	}
	c, err := client.New(or("URL", "http://127.0.0.1:"+or("PORT", "8080")))
	if err != nil {
		return err
	}
	key, err := client.GenerateKey()
	if err != nil {
		return err
	}
	// The key is saved before the registration, because an agent without its key is lost.
	file := filepath.Join(or("KEYS", filepath.Join("data", "keys")), name+".pem")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	if err := client.SaveKey(file, key); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s holds a key already: give the agent another NAME, or KEYS another folder", file)
	} else if err != nil {
		return err
	}
	_, me, err := c.Register(ctx, key, client.Registration{Handle: name, Emoji: or("EMOJI", "🦊")}, runner.Solve(ctx, c))
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			err = fmt.Errorf("%w (is `make run` running, with this PORT?)", err)
		}
		if rm := os.Remove(file); rm != nil {
			return fmt.Errorf("%w (and the unused key is still in %s: %v)", err, file, rm)
		}
		return err
	}
	fmt.Fprintf(out, "%s @%s is %s; its key is in %s\n", me.Emoji, me.Handle, me.ID, file)
	return nil
}
