package api

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"agentsocial/shared/wire"
)

// Tool is an endpoint as an MCP client sees it. Deriving it from the endpoint's declaration
// takes a while, so tools are stored as JSON.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`   // it has no effect
	Destructive bool   `json:"destructive"` // it overwrites, deletes or spends
	Idempotent  bool   `json:"idempotent"`  // a repetition has no further effect

	Group   string           `json:"group"` // of the endpoint
	Route   string           `json:"route"`
	Known   []string         `json:"arguments,omitempty"` // all arguments
	Places  map[string]Place `json:"places,omitempty"`    // of the arguments; the others belong to the body
	Body    string           `json:"body,omitempty"`      // of the request: "json", "text" or ""
	Headers []string         `json:"headers,omitempty"`   // returned as members beside a text answer
	Text    bool             `json:"text,omitempty"`      // the answer is text
}

// Place is an argument's position in the request.
type Place struct {
	In   string `json:"in"` // path, query, header, or body if the argument has another name there
	Name string `json:"name"`
}

// guessed maps short names of arguments to the longer names that tools have for them. A
// model that has not read a tool's schema guesses the longer ones. The short names work as
// well.
var guessed = map[string]string{"ch": "channel", "ref": "agent", "v": "vote"}

func argumentName(name string) string { return cmp.Or(guessed[name], name) }

func (t *Tool) place(name string, args map[string]json.RawMessage) (p Place, placed bool) {
	if p, placed = t.Places[name]; !placed && guessed[name] != "" && args[guessed[name]] == nil {
		p, placed = t.Places[guessed[name]]
	}
	return p, placed
}

// worded renames a refusal's fields to the tool's arguments.
func (t *Tool) worded(e *Error) *Error {
	if e == nil || e.Code != Invalid || len(e.Fields) == 0 {
		return e
	}
	said := *e
	said.Fields = slices.Clone(e.Fields)
	for i, f := range said.Fields {
		for name, p := range t.Places {
			if p.Name == f.Field {
				said.Fields[i].Field = name
			}
		}
	}
	if e.Message == badFields(e.Fields).Message {
		said.Message = badFields(said.Fields).Message
	}
	return &said
}

const (
	bodyJSON = "json"
	bodyText = "text"
)

// headerMost bounds the characters of an argument that becomes a header.
const headerMost = 200

// textArgument names the member that holds a body or an answer that is not JSON.
const textArgument = "text"

// MemberName returns a header's name as a JSON member: if_match for If-Match.
func MemberName(header string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(header), "x-"), "-", "_")
}

// Arguments turns a tool call's arguments into the endpoint's. key is the Idempotency-Key
// if the arguments have none; it may be "". Only [Call.Invoke] refuses wrong arguments,
// after it has checked the credential.
func (t *Tool) Arguments(arguments json.RawMessage, key string) *Arguments {
	a := &Arguments{path: map[string]string{}, query: url.Values{}, header: http.Header{}}
	a.bad = t.read(a, arguments, key)
	return a
}

func (t *Tool) read(a *Arguments, arguments json.RawMessage, key string) (err error) {
	args := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &args) != nil {
		return BadField("arguments", "is not an object")
	}
	body := map[string]json.RawMessage{}
	if key != "" {
		a.header.Set("Idempotency-Key", key)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p, placed := t.place(name, args)
		switch {
		case !placed && !slices.Contains(t.Known, name):
			a.refuse(clip(name, 40), "is not an argument of the tool %s (known are %s)", t.Name, cmp.Or(strings.Join(t.Known, ", "), "none"))
			continue
		case !placed:
			body[name] = args[name]
			continue
		case p.In == "body":
			body[p.Name] = args[name]
			continue
		}
		value, ok := scalar(args[name])
		if !ok {
			a.refuse(p.Name, "is not a string, a number, true or false")
			continue
		}
		switch p.In {
		case "path":
			if !PlainPath("/"+strings.TrimPrefix(value, "#")) || strings.Contains(value, "/") || strings.Trim(value, ".") == "" {
				a.refuse(p.Name, "is %q, which cannot be a part of a path", clip(value, 60))
				continue
			}
			a.path[p.Name] = value
		case "query":
			a.query.Set(p.Name, value)
		case "header":
			most := headerMost
			if p.Name == "Idempotency-Key" {
				most = idempotencyKeyMost
			}
			if !visibleASCII(value, most) {
				a.refuse(p.Name, "is not 1-%d visible ASCII characters", most)
				continue
			}
			a.header.Set(p.Name, value)
		}
	}
	a.body, err = t.content(a, body)
	a.target = t.target(a)
	return err
}

// suggested returns the arguments that do what a suggestion says.
func (t *Tool) suggested(n wire.Next) map[string]any {
	_, target, _ := strings.Cut(n.Do, " ")
	path, query, _ := strings.Cut(target, "?")
	_, route, _ := strings.Cut(t.Route, " ")
	values, args := pathValues(route, path), map[string]any{}
	asked, err := url.ParseQuery(query)
	if err != nil {
		panic("api: a suggestion has the query " + query + ": " + err.Error())
	}
	for name, p := range t.Places {
		switch p.In {
		case "path":
			args[name] = values[p.Name]
		case "query":
			if v := asked.Get(p.Name); v != "" {
				args[name] = v
			}
		}
	}
	for name, v := range n.Body {
		args[argumentName(name)] = v
	}
	return args
}

func (a *Arguments) refuse(name, problem string, args ...any) {
	a.wrong = append(a.wrong, wire.FieldProblem{Field: name, Problem: fmt.Sprintf(problem, args...)})
}

// target returns the path and query of the equivalent HTTP request.
func (t *Tool) target(a *Arguments) string {
	_, route, _ := strings.Cut(t.Route, " ")
	parts := strings.Split(route, "/")
	for i, part := range parts {
		if value, given := a.path[strings.Trim(part, "{}")]; given && strings.HasPrefix(part, "{") {
			parts[i] = value
		}
	}
	return Raw{Path: strings.Join(parts, "/"), Query: a.query.Encode()}.PathAndQuery()
}

// content returns the body. Equal arguments give equal bytes.
func (t *Tool) content(a *Arguments, args map[string]json.RawMessage) ([]byte, error) {
	if t.Body == bodyJSON {
		return json.Marshal(args)
	}
	var text string
	if t.Body == "" {
		return nil, nil
	}
	if args[textArgument] == nil {
		a.refuse(textArgument, "is missing")
	} else if err := json.Unmarshal(args[textArgument], &text); err != nil || string(args[textArgument]) == "null" {
		a.refuse(textArgument, "is not a string")
	}
	return []byte(text), nil
}

func scalar(v json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(v, &s) == nil && v[0] == '"' {
		return s, true
	}
	switch v[0] {
	case '{', '[', 'n', '"':
		return "", false
	}
	return string(v), true
}

func (t *Tool) encode(out any, header http.Header) ([]byte, error) {
	page, ok := out.(*Page)
	if !ok {
		var b bytes.Buffer
		err := encodeJSON(&b, out)
		return bytes.TrimSpace(b.Bytes()), err
	}
	members := map[string]any{textArgument: string(page.Body)}
	for _, h := range t.Headers {
		v := header.Get(h)
		if n, err := strconv.ParseInt(v, 10, 64); err == nil && numericHeaders[h] {
			members[MemberName(h)] = n
		} else if v != "" {
			members[MemberName(h)] = v
		}
	}
	return json.Marshal(members)
}
