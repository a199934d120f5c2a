package oauth

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests that the package's documentation names are there.
func TestNamedTestsAreThere(t *testing.T) {
	source, err := os.ReadFile("oauth.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, _, _ := strings.Cut(string(source), "\npackage ")
	there := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "node_modules" || name == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".txtar"):
			there[name] = true
		case strings.HasSuffix(name, "_test.go"):
			text, err := os.ReadFile(path)
			for _, m := range declared.FindAllSubmatch(text, -1) {
				there[string(m[1])] = true
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`Test\w+|\w+\.txtar`).FindAllString(doc, -1)
	for _, name := range named {
		if !there[name] {
			t.Errorf("%s is nowhere", name)
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d are named", len(named))
	}
}
