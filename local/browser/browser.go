// Package browser opens Chromium for the tests of pages that people see.
package browser

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
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
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path))
	if os.Getuid() == 0 { // as which its sandbox does not start
		options = append(options, chromedp.NoSandbox)
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(ctx)
	return tab, func() { closeTab(); end() }, nil
}

// Open starts Chromium for a test, or skips the test where there is none.
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
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
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
