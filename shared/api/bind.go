package api

import (
	"cmp"
	"encoding"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/shared/wire"
)

// served is an endpoint of a server. It is bound on first use, because a cold function
// should not inspect the input types of all its endpoints.
type served struct {
	Endpoint
	bound func() *bound
}

func newServed(e Endpoint) *served {
	s := &served{Endpoint: e}
	s.bound = sync.OnceValue(func() *bound { return bind(&s.Endpoint, newDocument().Components.Schemas) })
	return s
}

type bound struct {
	e                    *Endpoint
	schemas              huma.Registry
	params               []param
	query                []string     // names of query members
	body                 *huma.Schema // of a JSON body; nil if none
	bodyAt               []int        // the field of the input that a JSON body fills
	rawAt                []int        // the field that gets the body as bytes
	defaults             []param      // optional members of the body with a default
	names                []param      // members of the body that name an agent or a channel
	needsBody, takesBody bool
}

type param struct {
	Place
	at       []int
	schema   *huma.Schema
	required bool
	fallback string // default
	mark     string // @, # or both; one is dropped before a name
}

// QueryTaker is implemented by inputs that need the whole query.
type QueryTaker interface{ TakeQuery(url.Values) }

// bind reads an endpoint's input type. A server gives each endpoint its own schemas, so
// that it can bind one while it serves others. In the OpenAPI document, all endpoints share
// their schemas.
func bind(e *Endpoint, schemas huma.Registry) *bound {
	b := &bound{e: e, schemas: schemas, takesBody: e.Foreign.Media != nil || e.work.serve != nil}
	if e.work.in == nil {
		return b
	}
	for _, f := range reflect.VisibleFields(e.work.in) {
		switch {
		case f.Anonymous || !f.IsExported():
		case f.Name == "RawBody":
			b.rawAt, b.takesBody, b.needsBody = f.Index, true, !e.Foreign.Empty
		case f.Name == "Body":
			b.bodyAt, b.takesBody, b.needsBody = f.Index, true, f.Type.Kind() != reflect.Pointer
			b.body = huma.SchemaFromField(schemas, f, schemaName(e))
			b.defaults, b.names = tagged(f, "default"), tagged(f, "mark")
		default:
			for _, in := range []string{"path", "query", "header"} {
				if name := f.Tag.Get(in); name != "" {
					b.params = append(b.params, param{
						Place: Place{in, name}, at: f.Index, schema: huma.SchemaFromField(schemas, f, ""),
						required: in == "path" || f.Tag.Get("required") == "true", fallback: f.Tag.Get("default"), mark: f.Tag.Get("mark"),
					})
					if in == "query" {
						b.query = append(b.query, name)
					}
				}
			}
		}
	}
	slices.Sort(b.query)
	return b
}

func tagged(body reflect.StructField, tag string) (list []param) {
	if body.Type.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(body.Type) {
		if f.Tag.Get(tag) != "" {
			list = append(list, param{at: append(slices.Clone(body.Index), f.Index...), fallback: f.Tag.Get("default"), mark: f.Tag.Get("mark")})
		}
	}
	return list
}

func bare(name, mark string) string {
	if name != "" && strings.IndexByte(mark, name[0]) >= 0 {
		return name[1:]
	}
	return name
}

func (b *bound) input(a *Arguments) (any, error) {
	in := reflect.New(b.e.work.in)
	wrong := problems{schemas: b.schemas, fields: a.wrong[:min(len(a.wrong), problemsMost)]}
	for _, p := range b.params {
		if slices.ContainsFunc(a.wrong, func(f wire.FieldProblem) bool { return f.Field == p.Name }) {
			continue
		}
		text := cmp.Or(bare(a.text(p.Place), p.mark), p.fallback)
		if text == "" {
			if p.required {
				wrong.missing(p.Name, p.schema)
			}
			continue
		}
		wrong.quiet = p.In == "header"
		if v := p.value(text); wrong.check(p.Name, p.schema, v) {
			set(in.Elem().FieldByIndex(p.at), text, v)
		}
	}
	wrong.quiet = false
	switch {
	case b.rawAt != nil:
		in.Elem().FieldByIndex(b.rawAt).SetBytes(a.body)
	case b.bodyAt != nil && len(a.body) > 0:
		b.fill(in.Elem(), a.body, &wrong)
	}
	if len(wrong.fields) == 0 && b.needsBody && len(a.body) == 0 {
		return nil, &Error{Code: Invalid, Message: "The request has no body, and needs one.", Fields: []wire.FieldProblem{{Field: wholeBody, Problem: "is missing"}}}
	}
	if len(wrong.fields) > 0 {
		return nil, badFields(wrong.fields)
	}
	if t, ok := in.Interface().(QueryTaker); ok {
		t.TakeQuery(a.query)
	}
	return in.Interface(), nil
}

func (b *bound) fill(in reflect.Value, body []byte, wrong *problems) {
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		wrong.unfit(err)
		return
	}
	if !wrong.check("", b.body, v) {
		return
	}
	if err := json.Unmarshal(plainIntegers(body), in.FieldByIndex(b.bodyAt).Addr().Interface()); err != nil {
		wrong.unfit(err)
		return
	}
	for _, d := range b.defaults {
		if f := in.FieldByIndex(d.at); f.IsZero() {
			if err := json.Unmarshal([]byte(d.fallback), f.Addr().Interface()); err != nil {
				panic("api: " + b.e.Route + " has an invalid default: " + err.Error())
			}
		}
	}
	for _, n := range b.names {
		f := in.FieldByIndex(n.at)
		f.SetString(bare(f.String(), n.mark))
	}
}

// value converts text to the schema's type. If that fails, it returns text.
func (p *param) value(text string) any {
	switch p.schema.Type {
	case huma.TypeInteger:
		if whole, ok := integer(text); ok {
			text = whole
		}
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case huma.TypeBoolean:
		if on, err := strconv.ParseBool(text); err == nil {
			return on
		}
	}
	return text
}

// set sets a field to v, or to text if the field unmarshals text.
func set(f reflect.Value, text string, v any) {
	if u, ok := f.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(text)); err != nil {
			panic("api: " + f.Type().String() + " refuses a value that its schema allows: " + err.Error())
		}
		return
	}
	f.Set(reflect.ValueOf(v).Convert(f.Type()))
}
