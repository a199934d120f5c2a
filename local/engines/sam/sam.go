// Package sam runs the functions in containers behind AWS SAM's local gateway, from the
// synthesised template: `make sam`. SAM plays only the HTTP API. The service in this process
// plays the stream, the clock and the mailbox.
package sam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"agentsocial/local/engines/child"
	"agentsocial/local/engines/ports"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// Config configures a Gateway.
type Config struct {
	Engine    *Engine
	Template  string    // the file of the synthesised template
	Functions string    // has <name>/bootstrap for each function, built for Linux on this architecture
	Logs      io.Writer // receives the output of SAM and the functions
}

// Gateway runs SAM in one process, with a container per called function. It implements
// [service.Gateway].
type Gateway struct {
	c      Config
	failed chan error

	mu   sync.RWMutex
	runs *process
}

// New returns a gateway that is not started.
func New(c Config) *Gateway { return &Gateway{c: c, failed: make(chan error, 1)} }

// proxy returns a proxy to SAM. The host includes the port.
func proxy(host string) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL = target(host, r.In.RequestURI) },
		Transport:    &http.Transport{DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { badGateway(w, err) },
	}
}

// badGateway answers 502 in API Gateway's form.
func badGateway(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": "SAM's gateway: " + err.Error()}) // the caller may be gone
}

// target returns the URL of a request on another host. It keeps path and query byte for byte.
func target(host, requestURI string) *url.URL {
	path, query, _ := strings.Cut(requestURI, "?")
	if strings.HasPrefix(path, "//") { // net/url would read a host after the slashes
		path = "//" + host + path
	}
	return &url.URL{Scheme: "http", Host: host, Opaque: path, RawQuery: query}
}

// Address returns the address at which the functions reach this machine.
func (g *Gateway) Address() string { return g.c.Engine.Address }

// Failed delivers the error when SAM ends by itself.
func (g *Gateway) Failed() <-chan error { return g.failed }

// Containers returns the ids of the containers that the running SAM has made.
func (g *Gateway) Containers() []string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.runs == nil {
		return nil
	}
	return g.runs.output.containers()
}

// ServeHTTP passes a request on to SAM. During a restart of SAM, the request waits.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := g.enter()
	if p == nil {
		badGateway(w, errors.New("it does not run"))
		return
	}
	defer p.requests.Done()
	p.proxy.ServeHTTP(w, r)
}

// enter returns the running SAM process, or nil. It adds a request to the process's requests.
func (g *Gateway) enter() *process {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.runs != nil {
		g.runs.requests.Add(1)
	}
	return g.runs
}

// Start starts SAM with the functions' environment, and waits until SAM listens. It replaces
// a running SAM, whose requests get up to requestsWithin to end. Each function starts at its
// first call.
func (g *Gateway) Start(ctx context.Context, e host.Env) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs.stop()
	g.runs = nil
	synthesised, err := os.ReadFile(g.c.Template)
	if err != nil {
		return err
	}
	template, names, err := localise(synthesised, g.c.Functions, reachable(e).Variables(everything))
	if err != nil {
		return fmt.Errorf("%s: %w", g.c.Template, err)
	}
	own := environment(os.Environ(), names)
	if g.c.Engine.Socket != "" {
		own = append(own, "DOCKER_HOST="+g.c.Engine.Socket)
	}
	g.runs, err = start(ctx, g.c, template, own, g.failed)
	return err
}

// everything selects the variables of all functions. localise leaves each function only its
// own.
const everything = ^app.Capabilities(0)

// Close ends SAM and removes its containers.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs.stop()
	g.runs = nil
}

// environment returns SAM's own environment: this process's, without
//
//   - names, the functions' variables: SAM's environment would override their values.
//   - credentials: SAM would ask AWS who owns them, and pass them on to the functions.
//   - proxies: SAM would use them to reach the containers.
//
// Without credentials SAM makes some up, which DynamoDB Local accepts.
func environment(own []string, names map[string]bool) []string {
	var env []string
	for _, v := range own {
		name, _, _ := strings.Cut(v, "=")
		if !names[name] && !strings.HasPrefix(name, "AWS_") && !strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			env = append(env, v)
		}
	}
	return append(env, "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_DEFAULT_REGION=us-east-1", "SAM_CLI_TELEMETRY=0")
}

// reachable returns e with the addresses that work in a container.
func reachable(e host.Env) host.Env {
	local := *e.Local
	e.Local = &local
	for _, at := range []*string{&e.DynamoDBURL, &e.SecretsManagerURL, &e.SESURL, &local.StripeURL} {
		u, err := url.Parse(*at)
		if err != nil {
			panic(err) // impossible: the service built the URL
		}
		u.Host = net.JoinHostPort(Inside, u.Port())
		*at = u.String()
	}
	return e
}

// process is one run of SAM.
type process struct {
	proxy    http.Handler
	requests sync.WaitGroup // requests under way

	folder string // has the template
	output *output
	cancel context.CancelFunc
	exited chan struct{} // closed after the process has ended
	err    error         // why it ended; set before exited is closed
	ending atomic.Bool   // set by stop
}

const (
	// startWithin bounds a start of SAM. The first start took 9 s from a cold disk, later
	// starts 1.5 s.
	startWithin = 2 * time.Minute
	// stopWithin bounds SAM's removal of its containers.
	stopWithin = 30 * time.Second
	// requestsWithin is the time that running requests get when SAM stops.
	requestsWithin = 2 * time.Second
)

func start(ctx context.Context, c Config, template []byte, env []string, failed chan<- error) (_ *process, err error) {
	if _, err := exec.LookPath("sam"); err != nil {
		return nil, fmt.Errorf("%w (make sam installs it; make lambdas runs the same functions without it)", err)
	}
	p := &process{output: &output{to: c.Logs}, exited: make(chan struct{})}
	if p.folder, err = os.MkdirTemp("", "agentsocial-sam-"); err != nil {
		return nil, err
	}
	file := filepath.Join(p.folder, "template.json")
	err = os.WriteFile(file, template, 0o600)
	var port int
	var release func() error
	if err == nil {
		port, release, err = ports.Free()
	}
	if err != nil {
		_ = os.RemoveAll(p.folder)
		return nil, err
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(port))
	p.proxy = proxy(address)
	running, cancel := context.WithCancel(context.Background()) // SAM outlives ctx
	p.cancel = cancel
	cmd := exec.CommandContext(running, "sam", "local", "start-api", "--template", file, "--host", loopback, "--port", strconv.Itoa(port),
		"--warm-containers", "LAZY", "--no-watch", "--skip-pull-image", "--add-host", Inside+":"+c.Engine.Host)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.folder, env, p.output, p.output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopWithin
	go func() {
		p.err = errors.Join(child.Run(cmd), release())
		itself := !p.ending.Load() // read before exited is closed, since start may then call stop
		close(p.exited)
		if itself {
			select {
			case failed <- fmt.Errorf("sam local start-api ended: %w", p.err):
			default:
			}
		}
	}()
	if err := p.listens(ctx, address); err != nil {
		p.stop()
		return nil, fmt.Errorf("sam local start-api: %w\n%s", err, p.output.held())
	}
	p.output.pass()
	return p, nil
}

func (p *process) listens(ctx context.Context, target string) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		if conn, err := net.DialTimeout("tcp", target, time.Second); err == nil {
			return conn.Close()
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended: %w", p.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends SAM, and removes the containers that SAM leaves behind. The caller holds g.mu, so
// no request can enter.
func (p *process) stop() {
	if p == nil {
		return
	}
	answered := make(chan struct{})
	go func() {
		p.requests.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-p.exited:
	case <-time.After(requestsWithin):
	}
	p.ending.Store(true)
	p.cancel()
	<-p.exited
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	for _, id := range p.output.containers() {
		if _, err := docker(ctx, "container", "inspect", id); err != nil {
			continue // SAM removed it
		}
		if _, err := docker(ctx, "rm", "--force", id); err != nil {
			fmt.Fprintln(p.output, err)
		}
	}
	_ = os.RemoveAll(p.folder)
}

// containerID matches the line with which SAM logs a new container.
var containerID = regexp.MustCompile(`^SAM_CONTAINER_ID: ([0-9a-f]{64})\s*$`)

// output is the log of SAM and its functions. It holds back the beginning, in which SAM lists
// every route, and it filters out and collects the ids of containers.
type output struct {
	mu      sync.Mutex
	to      io.Writer
	passing bool
	buf     bytes.Buffer // the held text or an unfinished line
	ids     []string
}

// Write appends output. After pass, it forwards whole lines.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(b)
	if !o.passing {
		return len(b), nil
	}
	for {
		end := bytes.IndexByte(o.buf.Bytes(), '\n')
		if end < 0 {
			return len(b), nil
		}
		line := o.buf.Next(end + 1)
		if m := containerID.FindSubmatch(line); m != nil {
			o.ids = append(o.ids, string(m[1]))
			continue
		}
		if _, err := o.to.Write(line); err != nil {
			return 0, err
		}
	}
}

// pass drops the held text. From now on, Write forwards.
func (o *output) pass() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.passing = true
	o.buf.Reset()
}

func (o *output) held() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

func (o *output) containers() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ids
}
