package sam

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/engines/logs"
	"agentsocial/shared/lambda/host"
)

// TestMain lets this binary stand in for sam and docker, under their names.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "sam":
		fakeSAM()
	case "docker":
		fakeDocker()
	default:
		os.Exit(dynamodbtest.Main(m))
	}
}

// fakes puts stand-ins for sam and docker on the PATH. It returns the file of docker's calls.
func fakes(t *testing.T) (calls string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"sam", "docker"} {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	calls = filepath.Join(dir, "calls")
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("FAKE_CALLS", calls)
	return calls
}

// fakeSAM answers with the request target, its own arguments and environment, and two
// variables of the function that the path names. It leaves its container behind.
func fakeSAM() {
	option := func(name string) string {
		i := slices.Index(os.Args, name)
		return os.Args[i+1]
	}
	switch os.Getenv("FAKE_SAM") {
	case "broken":
		fmt.Fprintln(os.Stderr, "Error: no such template")
		os.Exit(1)
	case "slow":
		time.Sleep(time.Second)
	}
	b, err := os.ReadFile(option("--template"))
	if err != nil {
		panic(err)
	}
	var t struct {
		Resources map[string]struct {
			Properties struct {
				Environment struct{ Variables map[string]string }
			}
		}
	}
	if err := json.Unmarshal(b, &t); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, "Mounting one route after the other")
	l, err := net.Listen("tcp", net.JoinHostPort(option("--host"), option("--port")))
	if err != nil {
		panic(err)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt)
	go func() {
		<-end
		os.Exit(0)
	}()
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/exit" {
			os.Exit(3)
		}
		if r.URL.Path == "/hang" {
			fmt.Fprintln(os.Stderr, "a function hangs")
			<-r.Context().Done()
			return
		}
		fmt.Fprintln(os.Stderr, "SAM_CONTAINER_ID: "+container)
		fmt.Fprintln(os.Stderr, "a function says SAM_CONTAINER_ID: "+strings.Repeat("0", 64))
		fmt.Fprintln(os.Stderr, "a function's words")
		// As in samcli/local/lambdafn/env_vars.py, SAM's own environment overrides the
		// template's variables.
		vars := t.Resources[strings.TrimPrefix(r.URL.Path, "/")].Properties.Environment.Variables
		for name := range vars {
			if v, ok := os.LookupEnv(name); ok {
				vars[name] = v
			}
		}
		vars = map[string]string{"line": r.RequestURI, "key": os.Getenv("AWS_ACCESS_KEY_ID"), "TABLE": vars["TABLE"], "LOCAL": vars["LOCAL"],
			"arguments": strings.Join(os.Args[1:], " "), "proxy": os.Getenv("http_proxy"), "socket": os.Getenv("DOCKER_HOST")}
		_ = json.NewEncoder(w).Encode(vars)
	}))
}

const container = "c0ffee0000000000000000000000000000000000000000000000000000000000"

// fakeDocker notes its arguments. FAKE_INFO and FAKE_REACH set its answers.
func fakeDocker() {
	switch os.Args[1] {
	case "info":
		fmt.Println(os.Getenv("FAKE_INFO"))
	case "context":
		fmt.Println("unix:///fake/socket")
	case "run":
		if problem := os.Getenv("FAKE_REACH"); problem != "" {
			fmt.Fprintln(os.Stderr, problem)
			os.Exit(1)
		}
	}
	f, err := os.OpenFile(os.Getenv("FAKE_CALLS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(f, strings.Join(os.Args[1:], " "))
}

const oneFunction = `{"Resources": {"dm": {"Type": "AWS::Lambda::Function", "Metadata": {"aws:cdk:path": "s/dm/Function/Resource"},
	"Properties": {"Environment": {"Variables": {"TABLE": {"Ref": "Table"}}}}}}}`

// gateway returns a gateway on the fakes, and its log.
func gateway(t *testing.T) (*Gateway, *logs.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(file, []byte(oneFunction), 0o600); err != nil {
		t.Fatal(err)
	}
	out := &logs.Buffer{}
	g := New(Config{Engine: &Engine{Address: loopback, Host: hostGateway, Socket: "unix:///fake/socket"}, Template: file, Functions: "built", Logs: out})
	t.Cleanup(g.Close)
	return g, out
}

func env(table string, ahead time.Duration) host.Env {
	return host.Env{Table: table, AccessKey: "local", SecretKey: "local", Local: &host.Local{Ahead: ahead}}
}

// ask sends a request target over a connection, byte for byte.
func ask(t *testing.T, h http.Handler, target string) (answer map[string]string) {
	t.Helper()
	l, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n", target)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	if res.StatusCode != http.StatusOK {
		return map[string]string{"status": res.Status, "body": string(b)}
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		t.Fatalf("answer of SAM: %v: %s", err, b)
	}
	return answer
}

// The shell's variables reach this process, because make exports them.
func TestGateway_ShellOverridesNothing(t *testing.T) {
	fakes(t)
	t.Setenv("TABLE", "")
	t.Setenv("LOCAL", "")
	t.Setenv("AWS_ACCESS_KEY_ID", "a real one")
	t.Setenv("http_proxy", "http://192.0.2.1")
	g, _ := gateway(t)
	if err := g.Start(t.Context(), env("agentsocial", 0)); err != nil {
		t.Fatal(err)
	}
	got := ask(t, g, "/dm")
	if got["TABLE"] != "agentsocial" || !strings.Contains(got["LOCAL"], `"ahead":0`) || got["key"] != "" || got["proxy"] != "" || got["socket"] != "unix:///fake/socket" {
		t.Errorf("variables: got %v, want TABLE agentsocial, a clock that is not ahead, no key, no proxy, and the engine's socket", got)
	}
}

func TestGateway_RequestLine(t *testing.T) {
	fakes(t)
	g, _ := gateway(t)
	if err := g.Start(t.Context(), env("t", 0)); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/v1/c/lounge/search?q=a%20b&q=%C3%A9;x+y", "/a%2Fb//c?", "//v1/channels?a=/b"} {
		got := ask(t, g, target)["line"]
		if whole, ok := strings.CutPrefix(got, "http://"); ok {
			got = whole[strings.IndexByte(whole, '/'):]
		}
		if got != target && got != strings.TrimSuffix(target, "?") {
			t.Errorf("request target: got %s, want %s", got, target)
		}
	}
}

func TestGateway_StartAgain(t *testing.T) {
	calls := fakes(t)
	t.Setenv("TMPDIR", t.TempDir())
	g, logs := gateway(t)
	for _, ahead := range []time.Duration{0, time.Hour} {
		if err := g.Start(t.Context(), env("t", ahead)); err != nil {
			t.Fatal(err)
		}
		if got, want := ask(t, g, "/dm")["LOCAL"], fmt.Sprintf(`"ahead":%d`, ahead); !strings.Contains(got, want) {
			t.Errorf("LOCAL is %s, want %s", got, want)
		}
	}
	g.Close()
	b, err := os.ReadFile(calls)
	if want := "container inspect " + container + "\nrm --force " + container + "\n"; err != nil || string(b) != want+want {
		t.Errorf("docker's calls: got %q, error %v; want %q", b, err, want+want)
	}
	// The output from before SAM listened is dropped.
	said := "a function says SAM_CONTAINER_ID: " + strings.Repeat("0", 64) + "\na function's words\n"
	if got, want := logs.String(), said+said; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*")); err != nil || len(left) > 0 {
		t.Errorf("files left: got %q, error %v; want none", left, err)
	}
	if got := ask(t, g, "/dm"); got["status"] != "502 Bad Gateway" || !json.Valid([]byte(got["body"])) {
		t.Errorf("after Close: got the answer %v, want 502 with JSON", got)
	}
	select {
	case err := <-g.Failed():
		t.Errorf("after Close: got the failure %v, want none", err)
	default:
	}
}

func TestGateway_Failures(t *testing.T) {
	fakes(t)
	g, _ := gateway(t)
	t.Setenv("FAKE_SAM", "broken")
	if err := g.Start(t.Context(), env("t", 0)); err == nil || !strings.Contains(err.Error(), "no such template") {
		t.Errorf("broken: got error %v, want SAM's message", err)
	}
	<-g.Failed()
	t.Setenv("FAKE_SAM", "")
	if err := g.Start(t.Context(), env("t", 0)); err != nil {
		t.Fatal(err)
	}
	ask(t, g, "/exit")
	if err := <-g.Failed(); !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("ended: got error %v, want exit status 3", err)
	}
}

func TestGateway_Arguments(t *testing.T) {
	fakes(t)
	g, _ := gateway(t)
	if err := g.Start(t.Context(), env("t", 0)); err != nil {
		t.Fatal(err)
	}
	got := ask(t, g, "/dm")["arguments"]
	for _, want := range []string{"local start-api ", "--warm-containers LAZY", "--skip-pull-image", "--no-watch", "--add-host host.docker.internal:host-gateway"} {
		if !strings.Contains(got, want) {
			t.Errorf("SAM's arguments: got %s, want %q among them", got, want)
		}
	}
}

func TestGateway_UnfinishedRequest(t *testing.T) {
	fakes(t)
	g, logs := gateway(t)
	if err := g.Start(t.Context(), env("t", 0)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan map[string]string)
	go func() { ended <- ask(t, g, "/hang") }()
	for logs.String() == "" {
		time.Sleep(time.Millisecond)
	}
	if got := ask(t, g, "/dm")["TABLE"]; got != "t" {
		t.Errorf("while the request hangs: got TABLE %q, want t", got)
	}
	start := time.Now()
	if err := g.Start(t.Context(), env("other", 0)); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; got["status"] != "502 Bad Gateway" {
		t.Errorf("the request that hangs: got %v, want 502", got)
	}
	if got := ask(t, g, "/dm")["TABLE"]; got != "other" {
		t.Errorf("after the second start: got TABLE %q, want other", got)
	}
	if d := time.Since(start); d < requestsWithin {
		t.Errorf("wait of the second start: got %s, want at least %s", d, requestsWithin)
	}
}
