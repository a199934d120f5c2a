package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	markdowntext "github.com/yuin/goldmark/text"
)

// markdownFile holds a file's links, and the anchors of its headings.
type markdownFile struct{ links, anchors []string }

// TestLinksBetweenFiles leaves out the sources of the pages under /docs: TestAllLinksResolve
// follows the links of the pages as served.
func TestLinksBetweenFiles(t *testing.T) {
	files := markdownFiles(t)
	reached := map[string]bool{"README.md": true}
	for queue := []string{"README.md"}; len(queue) > 0; queue = queue[1:] {
		for _, link := range files[queue[0]].links {
			to, _, err := resolve(queue[0], link)
			if _, ok := files[to]; ok && err == nil && !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	for name, file := range files {
		if !reached[name] {
			t.Errorf("%s cannot be reached from README.md", name)
		}
		for _, link := range file.links {
			to, anchor, err := resolve(name, link)
			if err != nil {
				t.Errorf("%s: link %q: %v", name, link, err)
				continue
			}
			if to == "" {
				continue
			}
			if _, err := fs.Stat(os.DirFS(".."), to); err != nil {
				t.Errorf("%s: link %q: %v", name, link, err)
			} else if anchor != "" && !slices.Contains(files[to].anchors, anchor) {
				t.Errorf("%s: link %q: %s has no heading %q, only %q", name, link, to, anchor, files[to].anchors)
			}
		}
	}
	if len(files) < 20 {
		t.Errorf("repository: got %d Markdown files, want at least 20", len(files))
	}
}

// resolve returns the file and the anchor that a link leads to. The file is "" for a link to
// the web.
func resolve(from, link string) (to, anchor string, err error) {
	u, err := url.Parse(link)
	if err != nil || u.IsAbs() {
		return "", "", err
	}
	to = from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	return to, u.Fragment, nil
}

// markdownFiles returns the repository's Markdown files, by path.
func markdownFiles(t *testing.T) map[string]markdownFile {
	t.Helper()
	root, files := os.DirFS(".."), map[string]markdownFile{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			switch name {
			case ".git", "build", "cdk.out", "data", "functions/docs/topics", "functions/docs/pages", "functions/docs/examples":
				return fs.SkipDir
			}
			if d.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		b, err := fs.ReadFile(root, name)
		files[name] = parseMarkdown(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func parseMarkdown(source []byte) (file markdownFile) {
	markdown := goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := markdown.Parser().Parse(markdowntext.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			file.links = append(file.links, string(n.Destination))
		case *ast.Heading:
			if id, ok := n.AttributeString("id"); ok {
				file.anchors = append(file.anchors, string(id.([]byte)))
			}
		}
		return ast.WalkContinue, nil
	})
	return file
}
