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

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// The bounds of a start and of a test are generous, for busy machines.
const (
	startWithin = 2 * time.Minute
	testWithin  = 5 * time.Minute
)

// Start returns a tab of a Chromium without a window. The first action in the tab starts
// Chromium; stop ends it.
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
	if os.Getuid() == 0 { // Chromium's sandbox does not start as root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, end := chromedp.NewExecAllocator(ctx, options...)
	tab, closeTab := chromedp.NewContext(ctx)
	return tab, func() { closeTab(); end() }, nil
}

// Open returns a tab of Chromium for a test. Without Chromium it skips the test, or fails it
// with CI=true.
func Open(t testing.TB) context.Context {
	t.Helper()
	return OpenFor(t, testWithin)
}

// OpenFor is Open with another time limit.
func OpenFor(t testing.TB, within time.Duration) context.Context {
	t.Helper()
	ctx, stop, err := Start(t.Context())
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the pages need a browser: %v", err)
		}
		t.Skipf("SKIPPED, NOT TESTED: the pages need Chromium: %v", err)
	}
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, within)
	t.Cleanup(cancel)
	return ctx
}

// Does returns the result of an action in the browser.
func Does[T any](t testing.TB, tab context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(tab, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Arrives waits until the func meant accepts the browser's address, and returns the address.
func Arrives(tab context.Context, meant func(place string) bool) (place string, err error) {
	for {
		place, err = chromedp.Run(tab, chromedp.Location())
		if err != nil && !Leaves(err) || err == nil && meant(place) {
			return place, err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Leaves reports whether an action failed because the browser left the page.
func Leaves(err error) bool {
	return strings.Contains(err.Error(), "Inspected target navigated or closed")
}

// Dark sets the preferred color scheme to dark or light.
func Dark(on bool) chromedp.Action[chromedp.Void] {
	value := "light"
	if on {
		value = "dark"
	}
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: value}},
		})
		return err
	})
}
