// Package contract checks the service's answers against its OpenAPI document. Tests call
// it for each answer that they get.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentsocial/functions"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// Contract is the document, with its schemas compiled.
type Contract struct {
	routes     *http.ServeMux
	operations map[string]*operation // by route
	headers    []string              // described in the document
}

type operation struct {
	tool    string
	answers map[string]*answer // by status
}

type answer struct {
	codes   []string // of an error
	headers []string
	schemas map[string]*jsonschema.Schema // by content type
	links   map[string]link               // by the operation that they lead to
}

// link gives parameters of another operation, each as an expression over the answer.
type link struct{ Parameters map[string]string }

// Load makes the contract of all groups, once.
var Load = sync.OnceValues(func() (*Contract, error) {
	groups := functions.Groups(&app.App{})
	raw, err := api.OpenAPI(groups...) // a test compares it with functions/docs/openapi.json
	if err != nil {
		return nil, err
	}
	tools := map[string]string{}
	for _, g := range groups {
		for _, e := range g.Endpoints {
			tools[e.Route] = e.Tool
		}
	}
	return parse(raw, tools)
})

// parse reads a document; tools are the MCP tools of its routes.
func parse(raw []byte, tools map[string]string) (*Contract, error) {
	var doc struct {
		Components struct{ Headers map[string]any }
		Paths      map[string]map[string]struct {
			Responses map[string]struct {
				Description      string
				Headers, Content map[string]any
				Links            map[string]link
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	schemas, err := compiler(raw)
	if err != nil {
		return nil, err
	}
	c := &Contract{http.NewServeMux(), map[string]*operation{}, keys(doc.Components.Headers)}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			route := strings.ToUpper(method) + " " + path
			o := &operation{tools[route], map[string]*answer{}}
			c.routes.Handle(api.PatternOf(route), http.NotFoundHandler())
			c.operations[route] = o
			for status, r := range op.Responses {
				a := &answer{codesIn(r.Description), keys(r.Headers), map[string]*jsonschema.Schema{}, r.Links}
				o.answers[status] = a
				for contentType := range r.Content {
					if a.schemas[contentType], err = schemas("paths", path, method, "responses", status, "content", contentType, "schema"); err != nil {
						return nil, fmt.Errorf("%s %s: %w", route, status, err)
					}
				}
			}
		}
	}
	return c, nil
}

// compiler returns a function that compiles the schema at a place in a document.
func compiler(raw []byte) (func(place ...string) (*jsonschema.Schema, error), error) {
	const name = "https://contract.invalid/openapi.json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	return func(place ...string) (*jsonschema.Schema, error) {
		u := url.URL{}
		for _, p := range place {
			u.Fragment += "/" + escape.Replace(p)
		}
		return c.Compile(name + "#" + u.EscapedFragment())
	}, nil
}

var code = regexp.MustCompile("`([a-z_]+)`")

// codesIn returns the codes that the description of an error names.
func codesIn(description string) (codes []string) {
	for _, m := range code.FindAllStringSubmatch(description, -1) {
		codes = append(codes, m[1])
	}
	return codes
}

func keys(m map[string]any) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func (c *Contract) find(method, target string) *operation {
	return c.operations[c.Route(method, target)]
}

// Route returns the route of a request's operation, or "".
func (c *Contract) Route(method, target string) string {
	raw, _, _ := strings.Cut(target, "?")
	p, err := url.PathUnescape(raw)
	if err != nil || p != path.Clean(p) || !api.PlainPath(p) { // the service has no such paths
		return ""
	}
	_, route := c.routes.Handler(&http.Request{Method: method, URL: &url.URL{Path: p}})
	if !strings.HasPrefix(route, method+" ") { // the mux has matched HEAD with GET
		return ""
	}
	return strings.TrimSuffix(route, "{$}") // [api.PatternOf] adds it to "/"
}

// Check reports how an answer violates the document. The document leaves out pages of the
// local service, and refusals of callers that bypass the service's public address.
// Check ignores them.
func (c *Contract) Check(method, target string, status int, header http.Header, body []byte) error {
	if strings.HasPrefix(target, "/_local/") || status == http.StatusForbidden && isCode(body, api.EdgeRequired) {
		return nil
	}
	o := c.find(method, target)
	if method == http.MethodHead && status != http.StatusMethodNotAllowed { // HTTP allows HEAD wherever there is GET
		o = c.find(http.MethodGet, target)
		if len(body) > 0 {
			return fmt.Errorf("contract: %s %s answers with a body", method, target)
		}
	}
	switch {
	case o != nil:
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, method == http.MethodOptions && status == http.StatusNoContent:
		return nil
	default:
		return fmt.Errorf("contract: %s %s answers %d and is not in the document", method, target, status)
	}
	if err := c.check(o, method, status, header, body); err != nil {
		return fmt.Errorf("contract: %s %s answers %d: %w", method, target, status, err)
	}
	return nil
}

// isCode reports whether a body is the envelope of an error with this code.
func isCode(body []byte, code api.Code) bool {
	var e struct{ Error struct{ Code api.Code } }
	return json.Unmarshal(body, &e) == nil && e.Error.Code == code
}

func (c *Contract) check(o *operation, method string, status int, header http.Header, body []byte) error {
	a := o.answers[fmt.Sprint(status)]
	if a == nil {
		return fmt.Errorf("this status is not in the document: %.300s", body)
	}
	for _, name := range c.headers {
		if status < 400 && header.Get(name) != "" && !slices.Contains(a.headers, name) {
			return fmt.Errorf("the header %s is not in the document", name)
		}
	}
	if len(a.schemas) == 0 {
		if len(body) > 0 {
			return fmt.Errorf("the document has no body for this status; got %.300s", body)
		}
		return nil
	}
	contentType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type %q: %w", header.Get("Content-Type"), err)
	}
	schema := a.schemas[contentType]
	if schema == nil {
		return fmt.Errorf("the content type %s is not in the document", contentType)
	}
	if method == http.MethodHead {
		return nil
	}
	var v any = string(body)
	if contentType == "application/json" || strings.HasSuffix(contentType, "+json") {
		if v, err = jsonschema.UnmarshalJSON(bytes.NewReader(body)); err != nil {
			return err
		}
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("%w: %.300s", err, body)
	}
	if _, text := v.(string); status >= 400 && !text {
		return a.names(body)
	}
	if err := a.resolve(v); err != nil {
		return err
	}
	return c.next(v)
}

// resolve checks that each link of an answer points at a non-empty string in its body.
func (a *answer) resolve(v any) error {
	members, _ := v.(map[string]any)
	for to, l := range a.links {
		for name, expression := range l.Parameters {
			member, ok := strings.CutPrefix(expression, "$response.body#/")
			if text, _ := members[member].(string); !ok || text == "" {
				return fmt.Errorf("the link to %s has the parameter %s = %s, which is not in the answer", to, name, expression)
			}
		}
	}
	return nil
}

// names checks that the document lists an error's code for its status.
func (a *answer) names(body []byte) error {
	var e struct {
		JSONRPC string
		Error   json.RawMessage
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return err
	}
	if e.JSONRPC != "" { // JSON-RPC has its own codes
		return nil
	}
	var name string // an error in the form of RFC 6749 is only a code
	if json.Unmarshal(e.Error, &name) != nil {
		var own struct{ Code string }
		if err := json.Unmarshal(e.Error, &own); err != nil {
			return err
		}
		name = own.Code
	}
	if !slices.Contains(a.codes, name) {
		return fmt.Errorf("got the code %s, want one that the document has for this status: %v", name, a.codes)
	}
	return nil
}

// next checks that each call that an answer suggests exists, and that its tool is right.
func (c *Contract) next(v any) error {
	members, _ := v.(map[string]any)
	list, _ := members["next"].([]any)
	for _, n := range list {
		n := n.(map[string]any) // the schema requires this type
		do := n["do"].(string)
		tool, _ := n["tool"].(string)
		method, target, _ := strings.Cut(do, " ")
		o := c.find(method, target)
		if o == nil {
			return fmt.Errorf("next: %s is not in the document", do)
		}
		if tool != o.tool {
			return fmt.Errorf("next: the tool of %s is %q, want %q", do, o.tool, tool)
		}
	}
	return nil
}
