package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"agentsocial/local/engines/logs"
)

// This test binary is also the function.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("AWS_LAMBDA_RUNTIME_API") == "":
		os.Exit(m.Run())
	case os.Getenv("STARTS") == "never":
		fmt.Println("cannot start")
		os.Exit(3)
	}
	lambda.Start(function)
}

type ask struct {
	Do   string `json:"do"`
	File string `json:"file,omitempty"`
}

type told struct {
	PID     int           `json:"pid"`
	AtOnce  int32         `json:"at_once"` // running invocations in this process
	Env     []string      `json:"env"`
	Left    time.Duration `json:"left"`
	Request string        `json:"request"`
	ARN     string        `json:"arn"`
	Status  int           `json:"status"`
	Big     string        `json:"big,omitempty"`
}

var under atomic.Int32

func function(ctx context.Context, in ask) (told, error) {
	out := told{PID: os.Getpid(), AtOnce: under.Add(1), Env: os.Environ()}
	defer under.Add(-1)
	end, _ := ctx.Deadline()
	out.Left = time.Until(end)
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		out.Request, out.ARN = lc.AwsRequestID, lc.InvokedFunctionArn
	}
	fmt.Println("asked to", in.Do)
	switch in.Do {
	case "fail":
		return out, errors.New("it failed")
	case "panic":
		panic("it panicked")
	case "exit":
		os.Exit(7)
	case "hang":
		if in.File != "" {
			if err := os.WriteFile(in.File+".held", nil, 0o600); err != nil {
				return out, err
			}
		}
		select {}
	case "hold": // waits until the file exists
		if err := os.WriteFile(in.File+".held", nil, 0o600); err != nil {
			return out, err
		}
		for !exists(in.File) {
			time.Sleep(time.Millisecond)
		}
	case "answer another":
		res, err := http.Post("http://"+os.Getenv("AWS_LAMBDA_RUNTIME_API")+"/2018-06-01/runtime/invocation/another/response", "application/json", strings.NewReader(`{}`))
		if err != nil {
			return out, err
		}
		res.Body.Close()
		out.Status = res.StatusCode
	case "answer much":
		out.Big = strings.Repeat("x", bodyMost)
	}
	return out, nil
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

func config(out *logs.Buffer) Config {
	return Config{
		Name: "test", Bootstrap: os.Args[0], Memory: 512, Timeout: time.Minute, Logs: out,
		Env: map[string]string{"AWS_REGION": "local", "COLOUR": "red"},
	}
}

func newFunction(t *testing.T) (*Function, *logs.Buffer) {
	out := &logs.Buffer{}
	f := New(config(out))
	t.Cleanup(f.Close)
	return f, out
}

type invoker interface {
	Invoke(context.Context, []byte) ([]byte, error)
}

func invoke(ctx context.Context, f invoker, in ask) (told, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return told{}, err
	}
	if b, err = f.Invoke(ctx, b); err != nil {
		return told{}, err
	}
	var out told
	return out, json.Unmarshal(b, &out)
}

func works(t *testing.T, f invoker, in ask) told {
	t.Helper()
	out, err := invoke(t.Context(), f, in)
	if err != nil {
		t.Fatalf("invocation %q: %v", in.Do, err)
	}
	return out
}

// The output is in the log before Invoke returns.
func TestInvocation(t *testing.T) {
	t.Setenv("OF_THIS_MACHINE", "secret")
	f, logs := newFunction(t)
	for i := range 3 {
		out := works(t, f, ask{Do: "nothing"})
		if out.Request == "" || out.ARN != "arn:aws:lambda:local:000000000000:function:test" || out.Left <= 0 || out.Left > time.Minute {
			t.Errorf("invocation: got %+v, want a request id, the ARN and a deadline", out)
		}
		if n := strings.Count(logs.String(), "asked to nothing\n"); n != i+1 {
			t.Errorf("log after %d answers: got %d lines \"asked to nothing\", want %[1]d", i+1, n)
		}
		var names []string
		for _, v := range out.Env {
			name, value, _ := strings.Cut(v, "=")
			names = append(names, name)
			if name == "COLOUR" && value != "red" {
				t.Errorf("variable: got %s, want COLOUR=red", v)
			}
		}
		slices.Sort(names)
		want := "AWS_LAMBDA_FUNCTION_MEMORY_SIZE AWS_LAMBDA_FUNCTION_NAME AWS_LAMBDA_FUNCTION_VERSION AWS_LAMBDA_INITIALIZATION_TYPE " +
			"AWS_LAMBDA_RUNTIME_API AWS_REGION COLOUR LAMBDA_TASK_ROOT LANG TZ _HANDLER"
		names = slices.DeleteFunc(names, func(n string) bool { return n == "PWD" || n == "_X_AMZN_TRACE_ID" })
		if got := strings.Join(names, " "); got != want {
			t.Errorf("environment: got variables\n  %s, want\n  %s", got, want)
		}
	}
}

// Init is the cost of a cold start.
func TestInit(t *testing.T) {
	p, err := Start(t.Context(), config(&logs.Buffer{}))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if p.Init <= 0 || p.Init > initWithin {
		t.Errorf("first poll: got %s after the start, want at most 10 s", p.Init)
	}
	works(t, p, ask{Do: "nothing"})
}

func TestOneAtATime(t *testing.T) {
	f, _ := newFunction(t)
	first := works(t, f, ask{Do: "nothing"})
	if again := works(t, f, ask{Do: "nothing"}); again.PID != first.PID {
		t.Errorf("two invocations in turn: got processes %d and %d, want the same", first.PID, again.PID)
	}
	var mu sync.Mutex
	pids := map[int]bool{}
	var work sync.WaitGroup
	for range 60 {
		work.Go(func() {
			out, err := invoke(context.Background(), f, ask{Do: "nothing"})
			if err != nil || out.AtOnce != 1 {
				t.Errorf("invocations at once in a process: got %d, %v; want 1", out.AtOnce, err)
			}
			mu.Lock()
			pids[out.PID] = true
			mu.Unlock()
		})
	}
	work.Wait()
	if len(pids) > Most {
		t.Errorf("60 invocations: got %d processes, want at most %d", len(pids), Most)
	}
}

func TestSideBySide(t *testing.T) {
	f, _ := newFunction(t)
	file := filepath.Join(t.TempDir(), "go")
	var work sync.WaitGroup
	pids := make([]int, Most)
	for i := range Most {
		work.Go(func() {
			out, err := invoke(context.Background(), f, ask{Do: "hold", File: file})
			if err != nil {
				t.Error(err)
			}
			pids[i] = out.PID
		})
	}
	for len(f.slots) < Most || !exists(file+".held") {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if out, err := invoke(ctx, f, ask{Do: "nothing"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one more invocation: got %+v, error %v; want it to wait", out, err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	work.Wait()
	slices.Sort(pids)
	if distinct := slices.Compact(slices.Clone(pids)); len(distinct) != Most {
		t.Errorf("invocations side by side: got the processes %v, want %d different ones", pids, Most)
	}
	works(t, f, ask{Do: "nothing"})
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		do   string
		says string
		dies bool
	}{
		{"fail", "errorString: it failed", false},
		{"panic", "string: it panicked", true},
		{"exit", "its process ended: exit status 7", true},
		{"answer much", "Function.ResponseSizeTooLarge", true},
		{"hang", ErrTimedOut.Error(), true},
	} {
		f, logs := newFunction(t)
		pid := works(t, f, ask{Do: "nothing"}).PID
		ctx, cancel := context.WithCancel(t.Context())
		file := filepath.Join(t.TempDir(), "hang")
		if c.do == "hang" { // ctx ends only after the invocation has begun
			go func() {
				for ; !exists(file+".held") && ctx.Err() == nil; time.Sleep(time.Millisecond) {
				}
				cancel()
			}()
		}
		if _, err := invoke(ctx, f, ask{Do: c.do, File: file}); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got error %v, want %q", c.do, err, c.says)
		}
		cancel()
		if !strings.Contains(logs.String(), "asked to "+c.do) {
			t.Errorf("%s: got the log %q, want the invocation in it", c.do, logs)
		}
		if after := works(t, f, ask{Do: "nothing"}).PID; (after != pid) != c.dies {
			t.Errorf("%s: got process %d, then %d; want another process: %v", c.do, pid, after, c.dies)
		}
	}
}

func TestTimeout(t *testing.T) {
	c := config(&logs.Buffer{})
	c.Timeout = 50 * time.Millisecond
	p, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	if _, err := invoke(t.Context(), p, ask{Do: "hang"}); !errors.Is(err, ErrTimedOut) || !p.gone() {
		t.Errorf("after the timeout: got error %v, process ended: %v; want a timeout and true", err, p.gone())
	}
}

func TestProcessCannotStart(t *testing.T) {
	out := &logs.Buffer{}
	c := config(out)
	c.Env["STARTS"] = "never"
	f := New(c)
	defer f.Close()
	for i := range 2 {
		if _, err := invoke(t.Context(), f, ask{}); err == nil || !strings.Contains(err.Error(), "function test: its process ended before its first poll: exit status 3") {
			t.Errorf("failed start: got error %v, want exit status 3 before the first poll", err)
		}
		if n := strings.Count(out.String(), "cannot start\n"); n != i+1 {
			t.Errorf("failed start: got the log %q, want %d lines", out, i+1)
		}
	}
	c.Bootstrap = filepath.Join(t.TempDir(), "bootstrap")
	if _, err := Start(t.Context(), c); err == nil || !strings.Contains(err.Error(), c.Bootstrap) {
		t.Errorf("missing binary: got error %v, want one that names %s", err, c.Bootstrap)
	}
}

func TestEndedWhileIdle(t *testing.T) {
	f, _ := newFunction(t)
	for range 5 {
		pid := works(t, f, ask{Do: "nothing"}).PID
		p, err := os.FindProcess(pid)
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			t.Fatal(err)
		}
		<-f.idle[0].ended
		if after := works(t, f, ask{Do: "nothing"}).PID; after == pid {
			t.Error("next invocation: got the killed process again, want a new one")
		}
	}
}

// A running invocation finishes on its old process.
func TestRenew(t *testing.T) {
	f, _ := newFunction(t)
	before := works(t, f, ask{Do: "nothing"})
	file := filepath.Join(t.TempDir(), "go")
	held := make(chan error)
	go func() {
		_, err := invoke(context.Background(), f, ask{Do: "hold", File: file})
		held <- err
	}()
	for !exists(file + ".held") {
		time.Sleep(time.Millisecond)
	}
	f.Renew(map[string]string{"COLOUR": "blue"})
	after := works(t, f, ask{Do: "nothing"})
	if after.PID == before.PID || !slices.Contains(after.Env, "COLOUR=blue") || !slices.Contains(after.Env, "AWS_REGION=local") {
		t.Errorf("after Renew: got process %d, then %d with %v; want a new process with COLOUR=blue and AWS_REGION=local", before.PID, after.PID, after.Env)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-held; err != nil {
		t.Error(err)
	}
	for range 3 {
		if out := works(t, f, ask{Do: "nothing"}); out.PID != after.PID {
			t.Errorf("after Renew: got process %d, want %d again", out.PID, after.PID)
		}
	}
}

func TestProcessIsReplaced(t *testing.T) {
	f, _ := newFunction(t)
	f.wear = 3
	var pids []int
	for range 7 {
		pids = append(pids, works(t, f, ask{Do: "nothing"}).PID)
	}
	if a, b, c := pids[0], pids[3], pids[6]; a == b || b == c || !slices.Equal(pids, []int{a, a, a, b, b, b, c}) {
		t.Errorf("7 invocations: got processes %v, want a new one after each three invocations", pids)
	}
}

func TestProcessAnswersOnlyItsInvocation(t *testing.T) {
	f, _ := newFunction(t)
	if out := works(t, f, ask{Do: "answer another"}); out.Status != http.StatusBadRequest {
		t.Errorf("answer to another invocation: got status %d, want 400", out.Status)
	}
	if _, err := f.Invoke(t.Context(), make([]byte, bodyMost+1)); err == nil {
		t.Error("a payload above the limit: got no error, want one")
	}
}
