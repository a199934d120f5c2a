// Package browser opens Chromium for the tests of pages that people see.
package browser

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// How long a start may take, and a whole test: a machine that has just been set
// up, and is busy, takes many times what another does.
const (
	startWithin = 2 * time.Minute
	testWithin  = 5 * time.Minute
)

// Start starts Chromium without a window; stop ends it.
func Start(ctx context.Context) (tab context.Context, stop func(), err error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err = exec.LookPath(name); err == nil {
			break
		}
	}
	if err != nil {
		return nil, nil, err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.WSURLReadTimeout(startWithin))
	if os.Getuid() == 0 { // as which its sandbox does not start
		options = append(options, chromedp.NoSandbox)
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(ctx)
	return tab, func() { closeTab(); end() }, nil
}

// Open starts Chromium for a test, or skips the test if it is missing.
// A build server has no such excuse.
func Open(t testing.TB) context.Context {
	t.Helper()
	ctx, stop, err := Start(t.Context())
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the pages need a browser: %v", err)
		}
		t.Skipf("SKIPPED, NOT TESTED: the pages need Chromium: %v", err)
	}
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, testWithin)
	t.Cleanup(cancel)
	return ctx
}

// Does runs what is done in the browser.
func Does[T any](t testing.TB, tab context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(tab, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Arrives waits until the browser is at a place that is meant, whatever it leaves
// for it: what is asked before that may be answered by the page before.
func Arrives(tab context.Context, meant func(place string) bool) (place string, err error) {
	for {
		place, err = chromedp.Run(tab, chromedp.Location())
		if err != nil && !Leaves(err) || err == nil && meant(place) {
			return place, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Leaves reports whether the browser could not do something because it was leaving
// the page.
func Leaves(err error) bool {
	return strings.Contains(err.Error(), "Inspected target navigated or closed")
}
