package durable_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"agentsocial/local/service/durable"
)

// victim names the environment variable with the path of the file that a killed process writes.
const victim = "AGENTSOCIAL_TEST_VICTIM"

// content returns a content that shows whether it is whole: one byte, many times.
func content(n int) []byte { return bytes.Repeat([]byte{'a' + byte(n%26)}, 200_000+n%26) }

func TestMain(m *testing.M) {
	if path := os.Getenv(victim); path != "" {
		for n := 0; durable.Write(path, content(n)) == nil; n++ {
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestWrite_Killed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := durable.Write(path, content(0)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victim+"="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
			whole(t, path)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		whole(t, path)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode: got %v, %v; want 0600", info.Mode(), err)
	}
}

func whole(t *testing.T, path string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || len(got) == 0 || !bytes.Equal(got, content(int(got[0]-'a'))) {
		t.Fatalf("got %d bytes, %v; want the whole content of one write", len(got), err)
	}
}

func TestWrite_Refused(t *testing.T) {
	if err := durable.Write(filepath.Join(t.TempDir(), "no", "file"), nil); err == nil {
		t.Error("a write into a missing folder: got no error, want one")
	}
}
