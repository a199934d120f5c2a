package service

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentsocial/local/service/durable"
)

// The next noon is always in the future.
func TestUntilNoon(t *testing.T) {
	for now, want := range map[string]time.Duration{
		"2026-02-28T23:59:59.999Z": 12*time.Hour + time.Millisecond,
		"2026-03-01T00:00:00Z":     12 * time.Hour,
		"2026-03-01T11:59:59Z":     time.Second,
		"2026-03-01T12:00:00Z":     24 * time.Hour,
		"2026-03-01T13:00:00Z":     23 * time.Hour,
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := untilNoon(at); got != want {
			t.Errorf("untilNoon(%s) = %s, want %s", now, got, want)
		}
	}
}

// The files of the clock and of secrets are replaced, not written in place.
func TestClock_FileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	c, err := openClock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clock", secretFile} {
		if err := os.Mkdir(filepath.Join(dir, name+durable.Unfinished), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.advance(time.Minute); err == nil || c.lead() != time.Hour {
		t.Errorf("a move that cannot be written: got %v and a lead of %s, want an error and 1h", err, c.lead())
	}
	if again, err := openClock(dir); err != nil || again.lead() != time.Hour {
		t.Errorf("the clock of the next run: got %+v, %v; want a lead of 1h", again, err)
	}
	if _, err := openSecret(dir, secretFile, rand.Reader); err == nil {
		t.Error("a secret was written in place, want its file replaced")
	}
	if _, err := os.Stat(filepath.Join(dir, secretFile)); !os.IsNotExist(err) {
		t.Errorf("a secret that could not be written: got %v, want no file", err)
	}
}
