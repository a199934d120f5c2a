// Package runtime runs functions as AWS Lambda does. Each binary runs in its own processes,
// which poll for invocations over the Lambda Runtime API
// (https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).
//
// As in Lambda, a process has one invocation at a time, keeps its memory for the next
// invocation, and is killed at the timeout. It sees nothing of this machine's environment.
// Unlike in Lambda, an idle process is not frozen, and memory and CPU are not limited.
package runtime

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"agentsocial/local/engines/child"
)

// Config configures a function.
type Config struct {
	Name      string
	Bootstrap string            // the binary
	Env       map[string]string // with the region and the credentials
	Memory    int               // MB; the function is told, but not limited
	Timeout   time.Duration     // of an invocation
	Logs      io.Writer         // receives the output, from any goroutine; nil: discarded
}

// Lambda's limits.
const (
	initWithin = 10 * time.Second // until the first poll
	bodyMost   = 6 << 20          // bytes of a payload, and of an answer
)

// The errors of an invocation without an answer.
var (
	ErrTimedOut = errors.New("timed out; its process was killed")
	ErrEnded    = errors.New("its process ended")

	// errNotTaken means that the invocation can be retried safely.
	errNotTaken = errors.New("its process ended before it took the invocation")
)

// Error is an error that the function returned.
type Error struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

func (e *Error) Error() string { return e.Type + ": " + e.Message }

// Process is what Lambda calls an execution environment.
type Process struct {
	Init time.Duration // from its start to the first poll

	c       Config
	started time.Time
	output  *output
	server  *http.Server
	kill    context.CancelFunc
	ended   chan struct{} // closed when the process has ended
	err     error         // why it ended; set before ended is closed

	polled sync.Once
	ready  chan struct{} // closed at the first poll
	queue  chan *invocation
	mu     sync.Mutex
	taken  *invocation // nil while none runs
}

type invocation struct {
	id       string
	payload  []byte
	deadline time.Time
	done     chan result // of capacity one
}

type result struct {
	body []byte
	err  error
}

// Start starts a process and waits for its first poll. The process runs until Stop, and on
// Linux at most as long as this program.
func Start(ctx context.Context, c Config) (*Process, error) {
	bootstrap, err := filepath.Abs(c.Bootstrap)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	out, err := newOutput(c.Logs)
	if err != nil {
		listener.Close()
		return nil, err
	}
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	p := &Process{
		c: c, output: out, kill: kill, ended: make(chan struct{}), ready: make(chan struct{}), queue: make(chan *invocation),
	}
	p.server = &http.Server{Handler: p.api()}
	cmd := exec.CommandContext(life, bootstrap)
	cmd.Dir = filepath.Dir(bootstrap)
	cmd.Env = c.environ(listener.Addr().String(), cmd.Dir)
	cmd.Stdout, cmd.Stderr = out.file, out.file
	p.started = time.Now()
	go func() { _ = p.server.Serve(listener) }() // until the process has ended
	go p.run(cmd)

	ctx, cancel := context.WithTimeout(ctx, initWithin)
	defer cancel()
	select {
	case <-p.ready:
		return p, nil
	case <-p.ended:
		err = fmt.Errorf("its process ended before its first poll: %w", p.err)
	case <-ctx.Done():
		err = fmt.Errorf("its process did not poll in time: %w", ctx.Err())
	}
	p.Stop()
	return nil, fmt.Errorf("function %s: %w", c.Name, err)
}

// environ returns a process's environment, as Lambda sets it.
func (c Config) environ(api, dir string) []string {
	env := []string{
		"AWS_LAMBDA_RUNTIME_API=" + api, "_HANDLER=bootstrap", "LAMBDA_TASK_ROOT=" + dir, "TZ=:UTC", "LANG=en_US.UTF-8",
		"AWS_LAMBDA_FUNCTION_NAME=" + c.Name, "AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=" + strconv.Itoa(c.Memory), "AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
	}
	for name, value := range c.Env {
		env = append(env, name+"="+value)
	}
	return env
}

func (p *Process) run(cmd *exec.Cmd) {
	if p.err = child.Run(cmd); p.err == nil {
		p.err = errors.New("exit status 0")
	}
	p.output.pass()
	p.output.file.Close()
	p.server.Close()
	p.kill()
	close(p.ended)
}

// Stop kills the process and waits for its end.
func (p *Process) Stop() { p.kill(); <-p.ended }

func (p *Process) gone() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Invoke returns the process's answer to a payload. The process is killed at the function's
// timeout, or when ctx ends.
func (p *Process) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	if len(payload) > bodyMost {
		return nil, fmt.Errorf("function %s: the payload has %d bytes, want at most %d", p.c.Name, len(payload), bodyMost)
	}
	ctx, cancel := context.WithTimeout(ctx, p.c.Timeout)
	defer cancel()
	v := &invocation{id: uuid(), payload: payload, done: make(chan result, 1)}
	v.deadline, _ = ctx.Deadline()
	body, err := p.invoke(ctx, v)
	if err != nil {
		return nil, fmt.Errorf("function %s, request %s: %w", p.c.Name, v.id, err)
	}
	return body, nil
}

func (p *Process) invoke(ctx context.Context, v *invocation) ([]byte, error) {
	select {
	case p.queue <- v:
	case <-p.ended:
		return nil, errNotTaken
	case <-ctx.Done():
		p.Stop()
		return nil, ErrTimedOut
	}
	select {
	case r := <-v.done:
		p.output.pass()
		return r.body, r.err
	case <-p.ended:
		select {
		case r := <-v.done: // it answered before it ended
			return r.body, r.err
		default:
			return nil, fmt.Errorf("%w: %w", ErrEnded, p.err)
		}
	case <-ctx.Done():
		p.Stop()
		return nil, ErrTimedOut
	}
}

// api serves the Runtime API to one process.
func (p *Process) api() http.Handler {
	const root = "/2018-06-01/runtime/"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+root+"invocation/next", p.next)
	mux.HandleFunc("POST "+root+"invocation/{id}/response", func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, r, func(body []byte) result { return result{body: body} })
	})
	mux.HandleFunc("POST "+root+"invocation/{id}/error", func(w http.ResponseWriter, r *http.Request) {
		p.answer(w, r, func(body []byte) result { return result{err: errorOf(body)} })
	})
	mux.HandleFunc("POST "+root+"init/error", func(w http.ResponseWriter, _ *http.Request) {
		say(w, http.StatusAccepted, "status", "OK") // the process logs the error and ends
	})
	return mux
}

func say(w http.ResponseWriter, status int, name, value string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{name: value}) // the process may be gone
}

func (p *Process) next(w http.ResponseWriter, r *http.Request) {
	p.polled.Do(func() {
		p.Init = time.Since(p.started)
		close(p.ready)
	})
	select {
	case v := <-p.queue:
		p.mu.Lock()
		p.taken = v
		p.mu.Unlock()
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Lambda-Runtime-Aws-Request-Id", v.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(v.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:"+p.c.Env["AWS_REGION"]+":000000000000:function:"+p.c.Name)
		h.Set("Lambda-Runtime-Trace-Id", fmt.Sprintf("Root=1-%08x-%s;Sampled=0", time.Now().Unix(), hex(12)))
		_, _ = w.Write(v.payload) // if this fails, the process has ended, and p.ended reports it
	case <-r.Context().Done():
	}
}

// answer accepts the answer to the running invocation.
func (p *Process) answer(w http.ResponseWriter, r *http.Request, of func([]byte) result) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMost))
	p.mu.Lock()
	v := p.taken
	if v == nil || v.id != r.PathValue("id") {
		p.mu.Unlock()
		say(w, http.StatusBadRequest, "errorType", "InvalidRequestID")
		return
	}
	p.taken = nil
	p.mu.Unlock()
	if err != nil {
		v.done <- result{err: &Error{"Function.ResponseSizeTooLarge", err.Error()}}
		say(w, http.StatusRequestEntityTooLarge, "errorType", "RequestEntityTooLarge")
		return
	}
	v.done <- of(body)
	say(w, http.StatusAccepted, "status", "OK")
}

func errorOf(body []byte) error {
	e := &Error{}
	if err := json.Unmarshal(body, e); err != nil {
		return &Error{"Runtime.Unknown", "the function's error is not JSON"}
	}
	return e
}

// output is a process's output, in a file. When an answer arrives, the file has everything
// that the process wrote before the answer. A pipe may not.
type output struct {
	file *os.File
	to   io.Writer
	mu   sync.Mutex
	read int64
}

func newOutput(to io.Writer) (*output, error) {
	file, err := os.CreateTemp("", "lambda-")
	if err != nil {
		return nil, err
	}
	if to == nil {
		to = io.Discard
	}
	return &output{file: file, to: to}, os.Remove(file.Name()) // the file lives until it is closed
}

// pass copies new output to the log.
func (o *output) pass() {
	o.mu.Lock()
	defer o.mu.Unlock()
	b, err := io.ReadAll(io.NewSectionReader(o.file, o.read, 1<<62))
	o.read += int64(len(b))
	if err == nil && len(b) > 0 {
		_, _ = o.to.Write(b)
	}
}

func hex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return fmt.Sprintf("%x", b)
}

func uuid() string {
	return hex(4) + "-" + hex(2) + "-" + hex(2) + "-" + hex(2) + "-" + hex(6)
}
