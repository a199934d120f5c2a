// Package dynamodb runs DynamoDB Local, Amazon's imitation of DynamoDB, as a child process.
// It needs Java 17, and jars that Maven fetches once per machine.
//
// It listens on all of the machine's addresses and checks no credentials; neither can be
// changed. It differs from DynamoDB:
//
//   - TTL deletes items only now and then. The stream's event name for such a deletion is
//     UNKNOWN_TO_SDK_VERSION.
//   - Transactions never conflict, and nothing is throttled.
//   - Times in the stream are cut to the minute.
//   - Some reported capacities are wrong.
package dynamodb

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"agentsocial/local/engines/child"
	"agentsocial/local/engines/ports"
)

// Region and credentials for calls. DynamoDB Local accepts any region and any alphanumeric
// keys.
const (
	Region    = "local"
	AccessKey = "local"
	SecretKey = "local"
)

// startTimeout bounds a start. A start takes two seconds on an idle machine, and ten times as
// long beside other starts.
const startTimeout = 3 * time.Minute

// Options configures a server.
type Options struct {
	Dir  string // where tables are stored, made if missing; "": in memory
	Port int    // 0: a free one

	// Apart gives each access key and region tables of its own.
	Apart bool
}

// Server is a running DynamoDB Local.
type Server struct {
	// Endpoint is the address, such as "http://localhost:8000".
	Endpoint string

	process *child.Server
}

// Start starts DynamoDB Local and waits until it answers. The server runs until Stop or until
// ctx ends, and on Linux at most as long as this process. The error is an [ErrUnavailable] if
// this machine cannot run it.
func Start(ctx context.Context, o Options) (*Server, error) {
	java, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("%w: it needs Java 17, which is not installed: %w", ErrUnavailable, err)
	}
	jars, err := Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if o.Dir != "" {
		if err := os.MkdirAll(o.Dir, 0o755); err != nil {
			return nil, err
		}
	}
	// Another process may take the free port first.
	for attempt := 1; ; attempt++ {
		s, err := start(ctx, java, jars, o)
		if err == nil || o.Port != 0 || attempt == 3 || ctx.Err() != nil {
			return s, err
		}
	}
}

func start(ctx context.Context, java, jars string, o Options) (*Server, error) {
	var release func() error
	port := o.Port
	if port == 0 {
		var err error
		if port, release, err = ports.Free(); err != nil {
			return nil, err
		}
	} else if l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port))); err != nil {
		return nil, fmt.Errorf("DynamoDB Local cannot listen: %w", err)
	} else {
		l.Close()
	}
	args := []string{
		java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m", "-Djava.library.path=" + jars, "-cp", jars + "/*",
		"software.amazon.dynamodb.services.local.main.ServerRunner",
		"-port", strconv.Itoa(port), "-disableTelemetry",
	}
	if !o.Apart {
		args = append(args, "-sharedDb")
	}
	if o.Dir == "" {
		args = append(args, "-inMemory")
	} else {
		args = append(args, "-dbPath", o.Dir)
	}

	endpoint := "http://" + net.JoinHostPort("localhost", strconv.Itoa(port))
	process, err := child.Serve(ctx, ctx, child.Command{
		Name: "DynamoDB Local", Args: args, URL: endpoint, Code: http.StatusBadRequest, // the answer to a request without a signature
		StartWithin: startTimeout, StopWithin: 5 * time.Second, Release: release,
	})
	if err != nil {
		return nil, err
	}
	return &Server{endpoint, process}, nil
}

// Stop kills the server and waits for its end.
func (s *Server) Stop() {
	_ = s.process.Stop() // a killed process ends with an error
}
