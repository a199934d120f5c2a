package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"agentsocial/local/engines/child"
	"agentsocial/local/engines/ports"
)

// ownService is a service in a child process, with a temporary folder and without limits.
type ownService struct {
	url     string
	folder  string
	process *child.Server
}

// Bounds of the start and the end of a service. With TABLE=dynamodb-local the start is slow.
const (
	startWithin = 3 * time.Minute
	stopWithin  = 20 * time.Second
)

func startService(ctx context.Context, binary string) (*ownService, error) {
	port, release, err := ports.Free()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return nil, errors.Join(err, release())
	}
	s := &ownService{url: "http://127.0.0.1:" + strconv.Itoa(port), folder: folder}
	s.process, err = child.Serve(ctx, context.WithoutCancel(ctx), child.Command{
		Name: "the service", Args: []string{binary},
		Env: append(os.Environ(), "PORT="+strconv.Itoa(port), "DATA="+folder, "LIMITS=off", "ADDRESS_LIMITS=", "THROTTLE=", "POW_BITS=0"),
		URL: s.url + "/_local/measures", StartWithin: startWithin, StopWithin: stopWithin, Release: release,
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	return s, nil
}

func (s *ownService) stop() error {
	http.DefaultClient.CloseIdleConnections() // a service that stops waits for open connections
	err := s.process.Stop()
	if err != nil {
		err = fmt.Errorf("the service did not end well: %w", err)
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}
