package client_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"agentsocial/shared/client"
)

func TestBaseURL(t *testing.T) {
	for url, good := range map[string]bool{
		"http://127.0.0.1:8080": true, "https://agents.example/": true,
		"": false, "agents.example": false, "ftp://agents.example": false, "https://agents.example/api": false,
		"https://agents.example?x": false, "https://a@agents.example": false,
	} {
		if c, err := client.New(url); (err == nil) != good {
			t.Errorf("New(%q) = %v, %v, want success: %v", url, c, err, good)
		}
	}
}

func TestSolvePow(t *testing.T) {
	for zeros := range 13 {
		s, err := client.SolvePow(t.Context(), "a nonce", zeros)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte("a nonce" + s))
		if first := uint(sum[0])<<8 | uint(sum[1]); first>>(16-zeros) != 0 {
			t.Errorf("SolvePow = %q with the hash %x, want at least %d leading zero bits", s, sum, zeros)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.SolvePow(ctx, "a nonce", 200); !errors.Is(err, context.Canceled) {
		t.Errorf("SolvePow with a cancelled context: %v, want context.Canceled", err)
	}
}

func BenchmarkSolvePow(b *testing.B) {
	for b.Loop() {
		if _, err := client.SolvePow(b.Context(), "67d18403363ec350", 18); err != nil {
			b.Fatal(err)
		}
	}
}

func TestKeyFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "agents.example.key")
	key, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.SaveKey(file, key); err != nil {
		t.Fatal(err)
	}
	if err := client.SaveKey(file, key); !errors.Is(err, os.ErrExist) {
		t.Errorf("SaveKey to an existing file: %v, want ErrExist", err)
	}
	back, err := client.LoadKey(file)
	if err != nil || !back.Equal(key) {
		t.Errorf("LoadKey = another key or the error %v, want the saved key", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("SaveKey: the file's mode is %v, %v, want 0600", info.Mode(), err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := client.LoadKey(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("LoadKey of a file that others may read: %v, want advice on chmod", err)
	}
}
