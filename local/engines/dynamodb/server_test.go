package dynamodb_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/engines/dynamodb"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

// asParent names the variable that makes this binary start a server and wait to be killed.
const asParent = "DYNAMODB_TEST_AS_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		s, err := dynamodb.Start(context.Background(), dynamodb.Options{})
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		fmt.Println(s.Endpoint)
		select {}
	}
	os.Exit(m.Run())
}

func start(t *testing.T, ctx context.Context, o dynamodb.Options) *dynamodb.Server {
	t.Helper()
	s, err := dynamodb.Start(ctx, o)
	if errors.Is(err, dynamodb.ErrUnavailable) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func TestTablesOnDiskOutliveTheServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tables")
	config := func(s *dynamodb.Server) dynamo.Config {
		return dynamo.Config{
			Table: "kept", Endpoint: s.Endpoint, Region: dynamodb.Region,
			Credentials: dynamo.Credentials(dynamodb.AccessKey, dynamodb.SecretKey, ""),
			Timeout:     time.Minute, // under load, the first answers are slow
		}
	}
	item := tables.Item{"pk": "a", "sk": "b", "n": int64(1)}

	s := start(t, t.Context(), dynamodb.Options{Dir: dir})
	if err := dynamo.CreateTable(t.Context(), config(s).Client(), "kept", true); err != nil {
		t.Fatal(err)
	}
	if err := dynamo.Open(config(s)).Commit(t.Context(), tables.Tx{Writes: []tables.Write{tables.Put(item)}}); err != nil {
		t.Fatal(err)
	}
	s.Stop()

	s = start(t, t.Context(), dynamodb.Options{Dir: dir})
	got, err := dynamo.Open(config(s)).Get(t.Context(), tables.Strong, item.Key())
	if err != nil || got[0].Int("n") != 1 {
		t.Fatalf("after a restart: got %v, %v; want the item with n 1", got, err)
	}
}

func TestServerEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := start(t, ctx, dynamodb.Options{})
	cancel()
	awaitSilence(t, s.Endpoint)
	s.Stop() // stopping an ended server does no harm
}

func TestServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("the server dies with its parent only on Linux")
	}
	start(t, t.Context(), dynamodb.Options{}).Stop()

	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	endpoint, err := bufio.NewReader(out).ReadString('\n')
	if endpoint = strings.TrimSpace(endpoint); err != nil || !strings.HasPrefix(endpoint, "http") {
		t.Fatalf("the parent: got %q, %v; want its server's address", endpoint, err)
	}
	parent.Process.Kill()
	parent.Wait()
	awaitSilence(t, endpoint)
}

func awaitSilence(t *testing.T, endpoint string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		res, err := http.Get(endpoint)
		if err != nil {
			return
		}
		res.Body.Close()
	}
	t.Fatalf("%s: got an answer after a minute, want no server", endpoint)
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	s := start(t, t.Context(), dynamodb.Options{})
	var port int
	if _, err := fmt.Sscanf(s.Endpoint, "http://localhost:%d", &port); err != nil {
		t.Fatal(err)
	}
	if _, err := dynamodb.Start(t.Context(), dynamodb.Options{Port: port}); err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Fatalf("port in use: got error %v, want address already in use", err)
	}
}

func TestUnavailable(t *testing.T) {
	t.Setenv("PATH", "")
	if _, err := dynamodb.Start(t.Context(), dynamodb.Options{}); !errors.Is(err, dynamodb.ErrUnavailable) || !strings.Contains(err.Error(), "Java") {
		t.Errorf("without Java: got %v, want ErrUnavailable that names Java", err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	if _, err := dynamodb.Fetch(t.Context()); !errors.Is(err, dynamodb.ErrUnavailable) || !strings.Contains(err.Error(), "Maven") {
		t.Errorf("without Maven: got %v, want ErrUnavailable that names Maven", err)
	}
}

// Here Maven is a slow script that counts its runs.
func TestFetchOnce(t *testing.T) {
	home, bin := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("HOME", home)
	t.Setenv("RUNS", filepath.Join(home, "runs"))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	script := "#!/bin/sh\necho run >>$RUNS\nsleep 0.2\nfor a; do case $a in -DoutputDirectory=*) mkdir ${a#*=}; touch ${a#*=}/a.jar;; esac; done\n"
	if err := os.WriteFile(filepath.Join(bin, "mvn"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			dir, err := dynamodb.Fetch(t.Context())
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, "a.jar")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if runs, err := os.ReadFile(os.Getenv("RUNS")); err != nil || string(runs) != "run\n" {
		t.Errorf("runs of Maven: got %q, %v; want one", runs, err)
	}
	left, _ := filepath.Glob(filepath.Join(home, "cache", "agentsocial", "fetching-*"))
	if left == nil {
		left, _ = filepath.Glob(filepath.Join(home, "Library", "Caches", "agentsocial", "fetching-*"))
	}
	if len(left) > 0 {
		t.Errorf("folders left behind: got %q, want none", left)
	}
}

func TestVersionIsInPom(t *testing.T) {
	pom, err := os.ReadFile("pom.xml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(pom), "<version>"+dynamodb.Version+"</version>") {
		t.Errorf("pom.xml: got another version, want %s", dynamodb.Version)
	}
}
