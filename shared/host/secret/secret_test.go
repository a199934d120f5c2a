package secret

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"agentsocial/shared/seal"
)

var (
	older = strings.Repeat("o", seal.MinKey)
	newer = strings.Repeat("n", seal.MinKey)
)

func TestSecretIsFetchedUntilItIsThere(t *testing.T) {
	calls := 0
	open := Lazily(func(context.Context) (string, error) {
		if calls++; calls == 1 {
			return "", errors.New("not now")
		}
		return newer, nil
	}, boxOf)
	if calls != 0 {
		t.Error("it is fetched before it is needed")
	}
	if box, err := open(t.Context()); err == nil || box != nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("%v %v", box, err)
	}
	first, err := open(t.Context())
	if err != nil || first == nil {
		t.Fatalf("the second time: %v", err)
	}
	if again, err := open(t.Context()); err != nil || again != first || calls != 2 {
		t.Errorf("the third time: another box, after %d calls: %v", calls, err)
	}
}

func TestSecretOfSeveralLines(t *testing.T) {
	of := func(s string) *seal.Box {
		box, err := Lazily(func(context.Context) (string, error) { return s, nil }, boxOf)(t.Context())
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
			t.Errorf("%s: key %d, not %d", c.what, got, c.key)
		}
	}
}

// A secret that is none is not kept: the next fetch may bring a right one.
func TestBadSecretIsNotKept(t *testing.T) {
	for _, bad := range []string{"", "\n", "short", newer + "\nshort"} {
		s := bad
		open := Lazily(func(context.Context) (string, error) { return s, nil }, boxOf)
		if box, err := open(t.Context()); err == nil {
			t.Errorf("%q makes a box: %v", bad, box)
		}
		s = newer
		if box, err := open(t.Context()); err != nil || box == nil {
			t.Errorf("after %q: %v", bad, err)
		}
	}
}

// The pepper is the text's bytes, for ever: whatever a person's editor added
// around it is not part of it, and a second line is.
func TestPepper(t *testing.T) {
	of := func(s string) ([]byte, error) {
		return Lazily(func(context.Context) (string, error) { return s, nil }, pepperOf)(t.Context())
	}
	const good = "0123456789abcdefghijklmnopqrstuv"
	for text, want := range map[string]string{
		good: good, good + "\n": good, " " + good + "\r\n": good, good + "\nmore": good + "\nmore",
	} {
		if p, err := of(text); err != nil || string(p) != want {
			t.Errorf("%q makes %q: %v", text, p, err)
		}
	}
	for _, bad := range []string{"", "\n", good[1:], good[1:] + " \n"} {
		if p, err := of(bad); err == nil || p != nil || strings.Contains(err.Error(), good[1:]) {
			t.Errorf("%q makes %q: %v", bad, p, err)
		}
	}
}

// Many ask at once, one fetch answers all; who stops waiting does not end it.
func TestOneFetchForAll(t *testing.T) {
	calls := atomic.Int32{}
	ready := make(chan struct{})
	open := Lazily(func(ctx context.Context) (string, error) {
		calls.Add(1)
		select {
		case <-ready:
			return newer, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, pepperOf)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if p, err := open(gone); !errors.Is(err, context.Canceled) || p != nil {
		t.Errorf("who is gone got %q: %v", p, err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if p, err := open(t.Context()); err != nil || string(p) != newer {
				t.Errorf("%q %v", p, err)
			}
		})
	}
	close(ready)
	all.Wait()
	if n := calls.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}
