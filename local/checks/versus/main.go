// Command versus compares the processor time of requests: `make versus`. It compares the
// local service with a Go program on PostgreSQL that does the same work (control.go), and
// with PocketBase (pocket.go), which checks a token and writes one row.
//
// It is a module of its own, which keeps its dependencies out of the product's. It needs
// PostgreSQL's programs, and Linux for /proc.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "versus:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "control": // control PORT DATABASE
			return control(ctx, args[1], args[2])
		case "pocketbase": // pocketbase PORT FOLDER AGENTS
			return pocket(ctx, args[1], args[2], args[3])
		}
	}
	var c comparison
	flags := flag.NewFlagSet("versus", flag.ExitOnError)
	flags.StringVar(&c.binary, "product", "build/local", "the local service's `program`")
	flags.StringVar(&c.postgres, "postgres", "", "the `folder` of PostgreSQL's programs; found if empty")
	flags.IntVar(&c.posts, "posts", 10_000, "posts before the first measurement")
	flags.IntVar(&c.rounds, "rounds", 3, "rounds of measurements")
	flags.StringVar(&c.only, "only", "", "measure only this contestant: product, control or pocketbase")
	flags.StringVar(&c.row, "row", "", "measure only the rows whose names contain this `text`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return c.run(ctx, os.Stdout)
}

// server is a process of a contestant.
type server struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan error
}

// start starts a program, which logs to a file in folder.
func start(folder, name string, cmd *exec.Cmd) (*server, error) {
	log, err := os.Create(filepath.Join(folder, name+".log"))
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{cmd, log, make(chan error, 1)}
	go func() { s.done <- cmd.Wait() }()
	return s, nil
}

// stop ends the program as Ctrl-C does, and kills it if it does not end.
func (s *server) stop() {
	s.cmd.Process.Signal(os.Interrupt) // fails only if it has ended
	select {
	case <-s.done:
	case <-time.After(15 * time.Second):
		s.cmd.Process.Kill()
		<-s.done
	}
	s.log.Close()
}

func answers(ctx context.Context, url string) error {
	for wait := time.Minute; wait > 0; wait -= 50 * time.Millisecond {
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			return err
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			io.Copy(io.Discard, res.Body)
			return res.Body.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s does not answer", url)
}
