package docs

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	grid "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"agentsocial/shared/api"
	"agentsocial/shared/api/page"
)

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
			parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(
			parser.WithAttribute(), parser.WithAutoHeadingID(),
			parser.WithASTTransformers(util.Prioritized(labels{}, 1000)), // after tables are parsed
		),
	)
})

// without returns all parsers except the one for HTML. The texts contain no HTML; a
// word such as <handle> stays text.
func without(all []util.PrioritizedValue, html any) []util.PrioritizedValue {
	return slices.DeleteFunc(all, func(v util.PrioritizedValue) bool { return v.Value == html })
}

// labels adds the column's name to each cell of a table. On a phone, cells are shown
// one below the other, without the table's head.
type labels struct{}

func (labels) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != grid.KindTable {
			continue
		}
		var columns []string
		for cell := n.FirstChild().FirstChild(); cell != nil; cell = cell.NextSibling() {
			columns = append(columns, string(cell.Lines().Value(r.Source())))
		}
		for row := n.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
			i := 0
			for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cell.SetAttributeString("data-column", []byte(strings.ReplaceAll(columns[i], "`", "")))
				i++
			}
		}
	}
}

// contentOf returns a text as HTML. A block of code can be scrolled with the keyboard, too.
func contentOf(text string) (string, error) {
	var content bytes.Buffer
	err := markdown().Convert([]byte(text), &content)
	return strings.ReplaceAll(content.String(), "<pre>", `<pre tabindex="0">`), err
}

var beforeHeading = regexp.MustCompile(`(?m)^<h[1-6] `)

// sections puts each heading and what follows it into an element of its own. On a phone,
// the tables of a section come after its sentences.
func sections(content string) string {
	return "<section>" + strings.TrimPrefix(beforeHeading.ReplaceAllString(content, "</section>\n<section>$0"), "</section>\n<section>") + "</section>\n"
}

// extra holds what only the HTML of a page has.
type extra struct {
	find          func() (*page.Markup, error) // makes the search box; set only for the index
	example, base string                       // a topic's example, and the service's base URL
}

// render returns a text as Markdown, or as an HTML page if accept prefers HTML. at is the
// page's path.
func render(accept, at, text string, more extra) (*api.Page, error) {
	if !api.PrefersHTML(accept, "text/markdown", "text/plain") {
		return &api.Page{ContentType: "text/markdown; charset=utf-8", Vary: "Accept", Body: []byte(text)}, nil
	}
	content, err := contentOf(text)
	if err != nil {
		return nil, err
	}
	if more.example != "" {
		if content, err = withForms(content, more.example, more.base); err != nil {
			return nil, err
		}
	}
	d := &page.Document{
		Title: titleOf(text), Description: firstSentence(content), Index: true, Book: true,
		Main: new(page.Markup), Aside: contents(at),
	}
	if more.find != nil {
		box, err := more.find()
		if err != nil {
			return nil, err
		}
		d.Main.Append(box)
		d.Program = searchProgram
	}
	d.Main.Raw(sections(content))
	p := api.HTML(d)
	p.Vary = "Accept"
	return p, nil
}

var firstParagraph = regexp.MustCompile(`(?s)<p>(.*?)</p>`)

// firstSentence returns the first sentence of a page, as plain text. It says what the page
// is for.
func firstSentence(content string) string {
	paragraph := firstParagraph.FindString(content)
	sentence, _, more := strings.Cut(strings.Join(strings.Fields(plain(paragraph)), " "), ". ")
	if more {
		sentence += "."
	}
	return sentence
}

// contents lists the pages of the documentation, with the one at a path marked.
func contents(at string) *page.Markup {
	m := new(page.Markup).Raw(`<nav id="pages" aria-label="Pages"><ul>` + "\n")
	for _, e := range entries {
		m.Raw(`<li><a href="` + e.Path + `"`)
		if e.Path == at {
			m.Raw(` aria-current="page"`)
		}
		m.Raw(`>`).Text(e.Title).Raw("</a></li>\n")
	}
	return m.Raw("</ul></nav>\n")
}

type entry struct{ Path, Title string }

// entries lists the navigation: the index, the topics and the other pages.
var entries = func() []entry {
	list := []entry{{"/docs", "Index"}}
	for _, s := range shelf {
		title := strings.ToUpper(s.Name[:1]) + s.Name[1:]
		if len(s.Name) <= 3 { // MCP, DM
			title = strings.ToUpper(s.Name)
		}
		list = append(list, entry{"/docs/" + s.Name, title})
	}
	return append(list, entry{"/about", "About"}, entry{"/privacy", "Privacy"})
}()
