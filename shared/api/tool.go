package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"agentsocial/shared/wire"
)

// Tool is an endpoint as an agent sees it that speaks MCP: what it takes in one
// object, and its answer as another. All of it follows from the declaration, and
// takes so long to make that it is kept as JSON.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"`   // it has no effect
	Destructive bool   `json:"destructive"` // it overwrites, deletes or spends
	Idempotent  bool   `json:"idempotent"`  // done twice comes to what done once comes to

	Group   string           `json:"group"` // of the endpoint
	Route   string           `json:"route"`
	Places  map[string]Place `json:"places,omitempty"`  // of the arguments; one that has none belongs to the body
	Body    string           `json:"body,omitempty"`    // what the endpoint takes: "json", "text" or nothing
	Headers []string         `json:"headers,omitempty"` // of an answer that is text, which stand beside it
	Text    bool             `json:"text,omitempty"`    // the answer is text
}

// Place is where in the request an argument belongs.
type Place struct {
	In   string `json:"in"` // path, query or header
	Name string `json:"name"`
}

const (
	bodyJSON = "json"
	bodyText = "text"
)

// headerMost is how many characters an argument has that becomes a header.
const headerMost = 200

// textArgument is a body, or an answer, that is not JSON.
const textArgument = "text"

// memberName is a header's as a member of an object: if_match for If-Match.
func memberName(header string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.ToLower(header), "x-"), "-", "_")
}

// Arguments are the endpoint's of a call of the tool. What has no place in the path,
// the query or a header goes into the body, whose endpoint refuses what it does not
// know. key is the Idempotency-Key of a call whose arguments have none; "" if it has
// none either.
func (t *Tool) Arguments(arguments json.RawMessage, key string) (*Arguments, error) {
	args := map[string]json.RawMessage{}
	if len(arguments) > 0 && json.Unmarshal(arguments, &args) != nil {
		return nil, BadField("arguments", "is not an object")
	}
	a := &Arguments{path: map[string]string{}, query: url.Values{}, header: http.Header{}}
	body := map[string]json.RawMessage{}
	if key != "" {
		a.header.Set("Idempotency-Key", key)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		p, placed := t.Places[name]
		if !placed {
			body[name] = args[name]
			continue
		}
		value, ok := scalar(args[name])
		if !ok {
			return nil, BadField(name, "is not a string, a number, true or false")
		}
		switch p.In {
		case "path":
			if !PlainPath("/"+value) || strings.Contains(value, "/") || strings.Trim(value, ".") == "" {
				return nil, BadField(name, "is %q, which cannot be a part of a path", clip(value, 60))
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
				return nil, BadField(name, "is not 1-%d visible ASCII characters", most)
			}
			a.header.Set(p.Name, value)
		}
	}
	var missing []wire.Field
	for _, name := range slices.Sorted(maps.Keys(t.Places)) {
		if t.Places[name].In == "path" && args[name] == nil {
			missing = append(missing, wire.Field{Field: name, Problem: "is missing"})
		}
	}
	if missing != nil {
		return nil, badFields(missing)
	}
	var err error
	if a.body, err = t.content(body); err != nil {
		return nil, err
	}
	a.target = t.target(a)
	return a, nil
}

// target is the path and the query that HTTP has for arguments.
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

// content is the body. The same arguments have the same bytes.
func (t *Tool) content(args map[string]json.RawMessage) ([]byte, error) {
	if t.Body == bodyJSON {
		return json.Marshal(args)
	}
	var text string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if t.Body != bodyText || name != textArgument {
			return nil, BadField(clip(name, 40), "is no argument of the tool %s (it knows %s)", t.Name, t.known())
		}
	}
	if t.Body == "" {
		return nil, nil
	}
	if args[textArgument] == nil {
		return nil, BadField(textArgument, "is missing")
	}
	if err := json.Unmarshal(args[textArgument], &text); err != nil || string(args[textArgument]) == "null" {
		return nil, BadField(textArgument, "is not a string")
	}
	return []byte(text), nil
}

func (t *Tool) known() string {
	names := slices.Sorted(maps.Keys(t.Places))
	if t.Body == bodyText {
		names = append(names, textArgument)
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// scalar is a JSON value as a path or a query has it.
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

// encode is an endpoint's answer as the tool's output: JSON, an object.
func (t *Tool) encode(out any, header http.Header) ([]byte, error) {
	page, ok := out.(*Page)
	if !ok {
		var b bytes.Buffer
		err := encodeJSON(&b, out)
		return bytes.TrimSpace(b.Bytes()), err
	}
	members := map[string]string{textArgument: string(page.Body)}
	for _, h := range t.Headers {
		if v := header.Get(h); v != "" {
			members[memberName(h)] = v
		}
	}
	return json.Marshal(members)
}
