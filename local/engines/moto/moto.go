// Package moto runs moto, an imitation of AWS in Python, as a child process. `make moto-test`
// plays the transcripts on its DynamoDB.
package moto

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"agentsocial/local/engines/child"
	"agentsocial/local/engines/ports"
)

// Server is a running moto.
type Server struct {
	Endpoint string // such as "http://127.0.0.1:8000"

	process *child.Server
}

// Start starts moto_server and waits until it answers. The server runs until Stop, and on
// Linux at most as long as this process.
func Start(ctx context.Context, program string) (*Server, error) {
	port, release, err := ports.Free()
	if err != nil {
		return nil, err
	}
	endpoint := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	process, err := child.Serve(ctx, context.WithoutCancel(ctx), child.Command{
		Name: "moto", Args: []string{program, "-H", "127.0.0.1", "-p", strconv.Itoa(port)},
		Env: append(os.Environ(), "MOTO_ALLOW_NONEXISTENT_REGION=true"), // AWS has no region "local"
		URL: endpoint + "/moto-api/data.json", StartWithin: time.Minute, StopWithin: 5 * time.Second, Release: release,
	})
	if err != nil {
		return nil, err
	}
	return &Server{endpoint, process}, nil
}

// Stop ends the server and waits for its end.
func (s *Server) Stop() {
	_ = s.process.Stop() // a killed process ends with an error
}
