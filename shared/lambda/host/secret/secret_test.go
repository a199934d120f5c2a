package secret

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agentsocial/shared/identity/seal"
)

var noon = time.Unix(1_790_000_000, 0)

var (
	older = strings.Repeat("o", seal.MinKey)
	newer = strings.Repeat("n", seal.MinKey)
)

func TestSecretIsFetchedUntilAvailable(t *testing.T) {
	calls, now := 0, noon
	open := Keep(func(context.Context) (string, error) {
		if calls++; calls == 1 {
			return "", errors.New("not now")
		}
		return newer, nil
	}, boxOf, func() time.Time { return now }).Get
	if calls != 0 {
		t.Errorf("fetches before the first call: got %d, want 0", calls)
	}
	if box, err := open(t.Context()); err == nil || box != nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("first call = %v, %v, want the error of the fetch", box, err)
	}
	first, err := open(t.Context())
	if err != nil || first == nil {
		t.Fatalf("second call = %v, %v, want the secret", first, err)
	}
	now = now.Add(keptFor - 1)
	if again, err := open(t.Context()); err != nil || again != first || calls != 2 {
		t.Errorf("third call: got the same box %v, error %v after %d fetches; want true, no error and 2", again == first, err, calls)
	}
}

func TestSecretIsFetchedAgain(t *testing.T) {
	now, calls := noon, 0
	var text string
	var lost error
	kept := Keep(func(context.Context) (string, error) { calls++; return text, lost }, pepperOf, func() time.Time { return now })
	away := errors.New("away")
	for i, c := range []struct {
		after time.Duration
		doubt bool
		text  string
		lost  error
		want  string // "" for an error
		calls int
	}{
		{0, true, older, nil, older, 1}, // Doubt before the first fetch has no effect
		{keptFor - 1, false, newer, nil, older, 1},
		{1, false, newer, nil, newer, 2},
		{apart - 1, true, older, nil, newer, 2},
		{0, true, older, nil, newer, 2},
		{1, false, older, nil, older, 3},
		{apart, true, newer, away, older, 4},
		{apart - 1, true, newer, nil, older, 4},
		{1, false, newer, nil, newer, 5},
		{keptFor, false, "short", nil, "", 6},
		{apart - 1, true, newer, nil, "", 6},
		{1, false, newer, away, "", 7},
		{0, false, newer, away, "", 8},
		{0, false, newer, nil, newer, 9},
		{keptFor - 1, false, older, nil, newer, 9},
	} {
		now, text, lost = now.Add(c.after), c.text, c.lost
		if c.doubt {
			kept.Doubt()
		}
		p, err := kept.Get(t.Context())
		if string(p) != c.want || (err != nil) != (c.want == "") || calls != c.calls {
			t.Errorf("step %d: got %q, %v after %d fetches; want %q (\"\": an error) after %d", i, p, err, calls, c.want, c.calls)
		}
	}
}

func TestSecretOfSeveralLines(t *testing.T) {
	of := func(s string) *seal.Box {
		box, err := Keep(func(context.Context) (string, error) { return s, nil }, boxOf, time.Now).Get(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return box
	}
	sealed := func(b *seal.Box) string {
		token, err := b.Seal("test", 7)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	opens := func(b *seal.Box, token string) int {
		var n int
		key, err := b.Open("test", token, &n)
		if err != nil {
			return -1
		}
		return key
	}
	was, both, is := of(older+"\n"), of(newer+"\n"+older+"\n"), of(newer)
	for _, c := range []struct {
		what  string
		box   *seal.Box
		token string
		key   int
	}{
		{"an old token after the change", both, sealed(was), 1},
		{"a new token", both, sealed(both), 0},
		{"a new token where the old key is gone", is, sealed(both), 0},
		{"an old token where the old key is gone", is, sealed(was), -1},
		{"a new token before the change", was, sealed(both), -1},
	} {
		if got := opens(c.box, c.token); got != c.key {
			t.Errorf("%s: opened with key %d, want %d (-1: not opened)", c.what, got, c.key)
		}
	}
}

func TestBadSecretIsNotKept(t *testing.T) {
	for _, bad := range []string{"", "\n", "short", newer + "\nshort"} {
		s, now := bad, noon
		open := Keep(func(context.Context) (string, error) { return s, nil }, boxOf, func() time.Time { return now }).Get
		if box, err := open(t.Context()); err == nil {
			t.Errorf("Get of the secret %q = %v, want an error", bad, box)
		}
		s, now = newer, now.Add(apart)
		if box, err := open(t.Context()); err != nil || box == nil {
			t.Errorf("Get after the secret %q was replaced = %v, %v, want the new secret", bad, box, err)
		}
	}
}

// Text editors may add white space around the pepper.
func TestPepper(t *testing.T) {
	of := func(s string) ([]byte, error) {
		return Keep(func(context.Context) (string, error) { return s, nil }, pepperOf, time.Now).Get(t.Context())
	}
	const good = "0123456789abcdefghijklmnopqrstuv"
	for text, want := range map[string]string{
		good: good, good + "\n": good, " " + good + "\r\n": good, good + "\nmore": good + "\nmore",
	} {
		if p, err := of(text); err != nil || string(p) != want {
			t.Errorf("pepper of %q = %q, %v, want %q", text, p, err, want)
		}
	}
	for _, bad := range []string{"", "\n", good[1:], good[1:] + " \n"} {
		if p, err := of(bad); err == nil || p != nil || strings.Contains(err.Error(), good[1:]) {
			t.Errorf("pepper of %q = %q, %v, want an error without the pepper", bad, p, err)
		}
	}
}

func TestOneFetchForAll(t *testing.T) {
	calls := atomic.Int32{}
	ready := make(chan struct{})
	open := Keep(func(ctx context.Context) (string, error) {
		calls.Add(1)
		select {
		case <-ready:
			return newer, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, pepperOf, time.Now).Get
	gone, leave := context.WithCancel(t.Context())
	leave()
	if p, err := open(gone); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("Get with a cancelled context = %q, %v, want context.Canceled", p, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if p, err := open(t.Context()); err != nil || string(p) != newer {
				t.Errorf("Get = %q, %v, want the secret", p, err)
			}
		})
	}
	close(ready)
	all.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("got %d fetches for 21 calls of Get, want 1", n)
	}
}
