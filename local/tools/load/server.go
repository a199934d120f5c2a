package main

import (
	"context"
	"errors"
	"fmt"
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

// ownService is a service in a process of its own, with a temporary folder and without
// limits.
type ownService struct {
	url    string
	folder string
	cancel context.CancelFunc // stops its process
	log    logs.Tail
	ended  chan error
}

// Bounds on the start and the end of a service. DynamoDB Local starts slowly.
const (
	startWithin = 3 * time.Minute
	stopWithin  = 20 * time.Second
)

func startService(ctx context.Context, binary string) (s *ownService, err error) {
	port, release, err := ports.Free()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	s = &ownService{url: "http://127.0.0.1:" + strconv.Itoa(port), ended: make(chan error, 1)}
	if s.folder, err = os.MkdirTemp("", "load"); err != nil {
		return nil, err
	}
	var running context.Context
	running, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	cmd := exec.CommandContext(running, binary)
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port), "DATA="+s.folder, "LIMITS=off", "ADDRESS_LIMITS=", "THROTTLE=", "POW_BITS=0")
	cmd.Stdout, cmd.Stderr = &s.log, &s.log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopWithin
	go func() { s.ended <- child.Run(cmd) }()
	deadline := time.Now().Add(startWithin)
	for {
		if res, err := http.Get(s.url + "/_local/measures"); err == nil {
			res.Body.Close()
			return s, nil
		}
		select {
		case err := <-s.ended:
			s.cancel()
			return nil, errors.Join(fmt.Errorf("the service did not start: %w\n%s", err, &s.log), os.RemoveAll(s.folder))
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil, errors.Join(errors.New("the service did not start"), ctx.Err(), s.stop())
		}
	}
}

// stop ends the service and removes its folder.
func (s *ownService) stop() error {
	http.DefaultClient.CloseIdleConnections() // the service would wait for them
	s.cancel()
	err := <-s.ended
	if errors.Is(err, context.Canceled) { // it ended well
		err = nil
	}
	if err != nil {
		err = fmt.Errorf("the service did not end well: %w\n%s", err, &s.log)
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}
