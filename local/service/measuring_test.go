package service_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentsocial/local/service"
)

// startIn starts a service with an embedded table in c.Data.
func startIn(t *testing.T, c service.Config) *service.Service {
	t.Helper()
	c.Table, c.Settings, c.Log = "embedded", generous(), slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := service.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func fetched(t *testing.T, url string, headers ...string) (int, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, b
}

func TestMeasures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	kept, gone := startIn(t, service.Config{Data: dir}), startIn(t, service.Config{Data: service.Memory})
	measured := func(s *service.Service) (m service.Measures) {
		t.Helper()
		status, b := fetched(t, s.URL+"/_local/measures")
		if err := json.Unmarshal(b, &m); err != nil || status != http.StatusOK {
			t.Fatalf("reading the measures: got %d %s, %v; want 200 and measures", status, b, err)
		}
		if m.CPUMicros <= 0 || m.MemoryBytes < 1<<20 || m.LagMillis != 0 {
			t.Errorf("measures: got %+v, want CPU time, at least a MiB of memory and no lag", m)
		}
		return m
	}
	before := measured(kept)
	const more = 1 << 20
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "b", "file"), make([]byte, more), 0o600); err != nil {
		t.Fatal(err)
	}
	after := measured(kept)
	if got := after.DataBytes - before.DataBytes; before.DataBytes == 0 || got != more || after.CPUMicros <= before.CPUMicros {
		t.Errorf("measures: got %+v, and %+v after %d more bytes were written; want data before, that many more bytes, and more CPU time", before, after, more)
	}
	if m := measured(gone); m.DataBytes != 0 {
		t.Errorf("in memory: got %d bytes of data, want 0", m.DataBytes)
	}
}

// Programs on this machine get profiles if Config.Profiles is set.
func TestProfiles(t *testing.T) {
	t.Parallel()
	on, off := startIn(t, service.Config{Data: service.Memory, Profiles: true}), startIn(t, service.Config{Data: service.Memory})
	const pages = "/_local/pprof/"
	for page, want := range map[string]string{"": "goroutine?debug=1", "goroutine?debug=1": "goroutine profile", "cmdline": "service.test"} {
		if status, b := fetched(t, on.URL+pages+page); status != http.StatusOK || !strings.Contains(string(b), want) {
			t.Errorf("%q: got %d %.300s, want 200 and %q in the body", page, status, b, want)
		}
		if status, b := fetched(t, off.URL+pages+page); status != http.StatusNotFound || !strings.Contains(string(b), "problem") {
			t.Errorf("%q without profiles: got %d %.300s, want 404 and a problem", page, status, b)
		}
		for name, value := range map[string]string{"Origin": "https://a.example", "Sec-Fetch-Site": "none", "Host": "a.example"} {
			if status, _ := fetched(t, on.URL+pages+page, name, value); status != http.StatusForbidden {
				t.Errorf("%q with %s: %s: got %d, want 403", page, name, value, status)
			}
		}
	}
	for _, page := range []string{"heap", "allocs", "profile?seconds=1"} {
		status, b := fetched(t, on.URL+pages+page)
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil || status != http.StatusOK {
			t.Errorf("%s: got %d %.300s, want a profile", page, status, b)
			continue
		}
		if plain, err := io.ReadAll(z); err != nil || !bytes.Contains(plain, []byte("samples")) && !bytes.Contains(plain, []byte("space")) {
			t.Errorf("%s: got %d bytes and %v, want a profile", page, len(plain), err)
		}
	}
	if status, b := fetched(t, on.URL+pages+"nonesuch"); status != http.StatusNotFound {
		t.Errorf("an unknown profile: got %d %.300s, want 404", status, b)
	}
}
