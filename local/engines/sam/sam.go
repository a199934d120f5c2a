// Package sam runs the functions behind AWS SAM's local gateway, in containers,
// from the synthesised template: `make sam`. SAM plays the HTTP API and nothing
// else. The service beside it plays the stream, the clock and the mailbox.
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

// Config says what a Gateway runs.
type Config struct {
	Engine    *Engine
	Template  string    // file of the synthesised template
	Functions string    // folder of <name>/bootstrap, built for Linux on this machine's architecture
	Logs      io.Writer // receives what SAM and the functions write
}

// Gateway is SAM's gateway. SAM runs as one process, with a container for each function
// that was called. Gateway implements [service.Gateway].
type Gateway struct {
	c      Config
	failed chan error

	mu   sync.RWMutex
	runs *process // nil if SAM is not running
}

// New returns a gateway that is not started.
func New(c Config) *Gateway { return &Gateway{c: c, failed: make(chan error, 1)} }

// proxy passes requests on to SAM's gateway at host, as host:port.
func proxy(host string) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.Out.URL = target(host, r.In.RequestURI) },
		Transport:    &http.Transport{DisableCompression: true},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { badGateway(w, err) },
	}
}

// badGateway answers 502 in the form of API Gateway, with the error.
func badGateway(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": "SAM's gateway: " + err.Error()}) // the caller may be gone
}

// target returns the URL of a request on another host, with its path and query byte for
// byte.
func target(host, requestURI string) *url.URL {
	path, query, _ := strings.Cut(requestURI, "?")
	if strings.HasPrefix(path, "//") { // net/url would take what follows for a host
		path = "//" + host + path
	}
	return &url.URL{Scheme: "http", Host: host, Opaque: path, RawQuery: query}
}

// Address returns the address of this machine at which the functions reach it.
func (g *Gateway) Address() string { return g.c.Engine.Address }

// Failed delivers the error when SAM ends by itself.
func (g *Gateway) Failed() <-chan error { return g.failed }

// Containers returns the ids of the containers that SAM made since it started.
func (g *Gateway) Containers() []string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.runs == nil {
		return nil
	}
	return g.runs.output.containers()
}

// ServeHTTP passes a request on to SAM. While SAM starts anew, the request waits.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := g.enter()
	if p == nil {
		badGateway(w, errors.New("it does not run"))
		return
	}
	defer p.requests.Done()
	p.proxy.ServeHTTP(w, r)
}

// enter returns the running SAM process, or nil. It counts a request as under way in the
// process.
func (g *Gateway) enter() *process {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.runs != nil {
		g.runs.requests.Add(1)
	}
	return g.runs
}

// Start starts SAM with the functions' environment, and waits until SAM listens. It
// replaces a running SAM process, after giving the requests under way up to requestsWithin to end.
// It starts no function: each function starts when it is first called.
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

// everything has all capabilities, and so all variables. localise leaves each function
// only its own.
const everything = ^app.Capabilities(0)

// Close ends SAM and removes its containers.
func (g *Gateway) Close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs.stop()
	g.runs = nil
}

// environment returns the variables of this process that SAM itself gets. It leaves out
// names, the functions' variables, because SAM lets its own environment override them,
// even with empty values. It leaves out credentials: SAM would ask AWS whose they are,
// and pass them on to the functions. Without credentials, SAM makes some up, which
// DynamoDB Local accepts. It leaves out proxies: SAM would use them to reach containers
// on this machine.
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

// reachable returns e with the addresses at which containers reach this machine.
func reachable(e host.Env) host.Env {
	local := *e.Local
	e.Local = &local
	for _, at := range []*string{&e.DynamoDBURL, &e.SecretsManagerURL, &e.SESURL, &local.StripeURL} {
		u, err := url.Parse(*at)
		if err != nil {
			panic(err) // never: the URL was made from its parts
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

	folder string // the folder of its template
	output *output
	cancel context.CancelFunc
	exited chan struct{} // closed when the process is gone
	err    error         // why it ended; set before exited is closed
	ending atomic.Bool   // set by stop
}

const (
	// startWithin bounds a start of SAM, which imports a lot of Python. The first start
	// took 9 s from a cold disk, later ones 1.5 s.
	startWithin = 2 * time.Minute
	// stopWithin bounds the time that SAM takes to remove its containers.
	stopWithin = 30 * time.Second
	// requestsWithin bounds the time for requests under way when SAM is stopped.
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
		_ = os.RemoveAll(p.folder) // the first error says more
		return nil, err
	}
	address := net.JoinHostPort(loopback, strconv.Itoa(port))
	p.proxy = proxy(address)
	running, cancel := context.WithCancel(context.Background()) // it outlives ctx
	p.cancel = cancel
	cmd := exec.CommandContext(running, "sam", "local", "start-api", "--template", file, "--host", loopback, "--port", strconv.Itoa(port),
		"--warm-containers", "LAZY", "--no-watch", "--skip-pull-image", "--add-host", Inside+":"+c.Engine.Host)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.folder, env, p.output, p.output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopWithin
	go func() {
		p.err = errors.Join(child.Run(cmd), release())
		itself := !p.ending.Load() // before exited is closed, because start may then call stop
		close(p.exited)
		if itself {
			select {
			case failed <- fmt.Errorf("sam local start-api ended: %w", p.err):
			default: // there is an error already
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

// listens waits until SAM accepts connections.
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

// stop ends SAM, and removes the containers that SAM leaves behind. The caller makes sure
// that no further request enters.
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
	_ = os.RemoveAll(p.folder) // errors do not matter in the folder for temporary files
}

// containerID matches the line in which SAM logs the id of a container that it made.
var containerID = regexp.MustCompile(`^SAM_CONTAINER_ID: ([0-9a-f]{64})\s*$`)

// output takes what SAM and its functions write. It holds back the beginning, in which SAM
// lists every route, and collects the ids of the containers.
type output struct {
	mu      sync.Mutex
	to      io.Writer
	passing bool
	buf     bytes.Buffer // the text held back, or an unfinished line
	ids     []string
}

// Write takes more output. After pass, it passes whole lines on.
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

// pass drops the text held back. From then on, Write passes lines on, except those with the
// ids of containers.
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

// containers returns the ids of all containers that were made.
func (o *output) containers() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ids
}
