// Package moto runs moto, another project's imitation of AWS in Python, as a child process.
// `make moto-test` plays the transcripts on its DynamoDB.
package moto

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"agentsocial/local/engines/child"
	"agentsocial/local/engines/logs"
	"agentsocial/local/engines/ports"
)

// Server is a running moto.
type Server struct {
	Endpoint string // such as "http://127.0.0.1:8000"

	cancel context.CancelFunc
	exited chan struct{} // closed when the process is gone
	err    error         // why it ended; set before exited is closed
}

// Start starts moto's program moto_server and waits until it answers. It runs until Stop,
// or until this process ends.
func Start(ctx context.Context, program string) (*Server, error) {
	port, release, err := ports.Free()
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{Endpoint: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), cancel: cancel, exited: make(chan struct{})}
	cmd := exec.CommandContext(running, program, "-H", "127.0.0.1", "-p", strconv.Itoa(port))
	cmd.Env = append(os.Environ(), "MOTO_ALLOW_NONEXISTENT_REGION=true") // DynamoDB Local's region
	var output logs.Tail
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	go func() {
		s.err = errors.Join(child.Run(cmd), release())
		close(s.exited)
	}()
	if err := s.ready(ctx); err != nil {
		s.Stop()
		return nil, fmt.Errorf("moto did not start: %w\n%s", err, &output)
	}
	return s, nil
}

// Stop ends the server and waits until it has ended.
func (s *Server) Stop() {
	s.cancel()
	<-s.exited
}

// ready waits for the first answer.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		select {
		case <-s.exited:
			return errors.Join(errors.New("its process ended"), s.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint+"/moto-api/data.json", nil)
		if err != nil {
			return err
		}
		if a, err := http.DefaultClient.Do(q); err == nil {
			a.Body.Close()
			return nil
		}
	}
}
