package child

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"agentsocial/local/engines/logs"
)

// Command is a command that serves HTTP.
type Command struct {
	Name string // for errors, such as "DynamoDB Local"
	Args []string
	Env  []string // as in [exec.Cmd]
	URL  string   // asked until it answers
	Code int      // the expected status; 0: any

	StartWithin, StopWithin time.Duration

	Release func() error // called after the process has ended; may be nil
}

// Server is a running command that serves HTTP.
type Server struct {
	cancel context.CancelFunc
	exited chan struct{} // closed after the process has ended
	err    error         // why it ended; set before exited is closed
	output logs.Tail
}

// Serve starts a command and waits until it answers. ctx bounds the start. The process runs
// until Stop or until life ends, and on Linux at most as long as this process.
func Serve(ctx, life context.Context, c Command) (*Server, error) {
	running, cancel := context.WithCancel(life)
	s := &Server{cancel: cancel, exited: make(chan struct{})}
	cmd := exec.CommandContext(running, c.Args[0], c.Args[1:]...)
	cmd.Env = c.Env
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = c.StopWithin
	go func() {
		s.err = Run(cmd)
		if c.Release != nil {
			s.err = errors.Join(s.err, c.Release())
		}
		close(s.exited)
	}()
	if err := s.ready(ctx, c); err != nil {
		s.cancel()
		<-s.exited
		return nil, fmt.Errorf("%s did not start: %w\n%s", c.Name, err, &s.output)
	}
	return s, nil
}

// Stop ends the server and waits for its end. If the process failed, the error has the end of
// its output.
func (s *Server) Stop() error {
	s.cancel()
	<-s.exited
	if s.err == nil || errors.Is(s.err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("%w\n%s", s.err, &s.output)
}

func (s *Server) ready(ctx context.Context, c Command) error {
	ctx, cancel := context.WithTimeout(ctx, c.StartWithin)
	defer cancel()
	for {
		select {
		case <-s.exited:
			if s.err == nil {
				return errors.New("its process ended")
			}
			return s.err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
		if err != nil {
			return err
		}
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			continue
		}
		a.Body.Close()
		if c.Code == 0 || a.StatusCode == c.Code {
			return nil
		}
	}
}
