// Package axe checks pages with axe-core, a library of accessibility rules, in Chromium.
// package.json has the version of axe-core.
package axe

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"agentsocial/local/engines/browser"
)

// Source returns axe-core's program. root is the root folder of the repository. If npm
// cannot fetch the program, the test is skipped, or fails with CI=true.
func Source(t testing.TB, root string) string {
	t.Helper()
	here, build := filepath.Join(root, "local/checks/axe"), filepath.Join(root, "build/axe")
	lock, err := os.ReadFile(filepath.Join(here, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(build, "node_modules/axe-core/axe.min.js")
	if kept, err := os.ReadFile(filepath.Join(build, "package-lock.json")); err != nil || !bytes.Equal(kept, lock) || !exists(program) {
		if err := fetch(here, build); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("axe-core cannot be fetched: %v", err)
			}
			t.Skipf("SKIPPED, NOT TESTED: the accessibility of pages needs npm and a registry: %v", err)
		}
	}
	source, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

func fetch(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o644); err != nil {
			return err
		}
	}
	out, err := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", to).CombinedOutput()
	if err != nil {
		return &failure{err, strings.TrimSpace(string(out))}
	}
	return nil
}

type failure struct {
	err  error
	said string
}

func (f *failure) Error() string { return f.err.Error() + ": " + f.said }

// run lists the violations of axe's rules as text. It adds a rule of ours: a page is not
// wider than its window.
const run = `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
  v.id + " (" + v.help + "): " + v.nodes.map(n => n.target.join(" ") + " " + n.html.slice(0, 120)).join(" | ")).concat(
  document.documentElement.scrollWidth > innerWidth ? ["wider than its window: " + document.documentElement.scrollWidth + " px"] : []).join("\n"))`

// Violations checks the page that a tab shows.
func Violations(t testing.TB, tab context.Context, source string) string {
	t.Helper()
	browser.Does(t, tab, chromedp.Evaluate[bool](source+"; true"))
	return browser.Does(t, tab, chromedp.Evaluate[string](run, chromedp.EvalAwaitPromise))
}
