package api

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"agentsocial/shared/text"
)

// fromHuma turns what huma finds wrong with a request into a refusal, which lists
// all of it.
func fromHuma(status int, msg string, errs []error, d declared) *Error {
	if status == http.StatusInternalServerError {
		return Fail(Internal, "Something failed inside the service.").Because(fmt.Errorf("%s: %w", msg, firstOf(errs)))
	}
	var fields []Field
	unknown := 0 // members, which come first: one is likely what is missing, misspelt
	for _, err := range errs {
		if e, ok := err.(huma.ErrorDetailer); ok {
			detail := e.ErrorDetail()
			if detail.Message == validation.MsgUnexpectedProperty {
				unknown++
				fields = slices.Insert(fields, unknown-1, d.unknown(detail.Location))
				continue
			}
			fields = append(fields, problemOf(detail, d.schemaAt(detail.Location)))
		} else {
			fields = append(fields, Field{"body", "is refused"})
		}
	}
	if len(fields) == 0 {
		return &Error{Code: Invalid, Message: "The request has no body, and needs one.", Fields: []Field{{"request body", msg}}}
	}
	return badFields(fields)
}

// badFields refuses several fields: the message tells of the first, and names
// those that it has room for.
func badFields(fields []Field) *Error {
	const named = 5
	e := &Error{Code: Invalid, Fields: fields}
	e.Message = strconv.Quote(clip(fields[0].Field, 60))
	if p := fields[0].Problem; !strings.HasPrefix(p, "is ") && !strings.HasPrefix(p, "has ") {
		e.Message += ":"
	}
	e.Message += " " + fields[0].Problem
	var others []string
	for _, f := range fields[1:] {
		if name := strconv.Quote(clip(f.Field, 60)); f.Field != fields[0].Field && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	switch n := len(others); {
	case n > named:
		e.Message += fmt.Sprintf("; also %s and %d more", strings.Join(others[:named], ", "), n-named)
	case n > 0:
		e.Message += "; also " + strings.Join(others, ", ")
	}
	e.Message += "."
	return e
}

func firstOf(errs []error) error {
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// declared is what an endpoint says of its input.
type declared struct {
	op      *huma.Operation
	schemas huma.Registry
}

// schemaAt is the schema of what a location names, "query.limit" or
// "body.tags[1]"; nil if it is not known.
func (d declared) schemaAt(location string) *huma.Schema {
	if d.op == nil {
		return nil
	}
	in, path, _ := strings.Cut(location, ".")
	if in != "body" {
		for _, p := range d.op.Parameters {
			if p.In == in && p.Name == path {
				return p.Schema
			}
		}
		return nil
	}
	if d.op.RequestBody == nil || d.op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	s := d.resolved(d.op.RequestBody.Content["application/json"].Schema)
	for _, member := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' }) {
		switch {
		case s == nil:
			return nil
		case strings.HasSuffix(member, "]"):
			s = d.resolved(s.Items)
		default:
			s = d.resolved(s.Properties[member])
		}
	}
	return s
}

// unknown is the problem of a member that there is not, and names those that
// there are.
func (d declared) unknown(location string) Field {
	f := Field{clip(fieldName(location), 60), "is not a member that is known here"}
	if dot := strings.LastIndexByte(location, '.'); dot > 0 {
		if s := d.schemaAt(location[:dot]); s != nil && len(s.Properties) > 0 {
			f.Problem += " (known are " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ") + ")"
		}
	}
	return f
}

func (d declared) resolved(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" && d.schemas != nil {
		return d.schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// problemOf names the member that a problem is about, where huma only says so in
// words, the value, where that is no secret, and what is expected in its place;
// and says in ours what encoding/json says in Go's.
func problemOf(d *huma.ErrorDetail, s *huma.Schema) Field {
	name := fieldName(d.Location)
	before, after, required := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	if member, ok := strings.CutPrefix(d.Message, before); ok && required && strings.HasSuffix(member, after) {
		member = strings.TrimSuffix(member, after)
		if name != "request body" {
			member = name + "." + member
		}
		return Field{member, "is missing"}
	}
	switch {
	case strings.HasPrefix(d.Message, "json: "):
		if _, member, ok := strings.Cut(d.Message, "Go struct field "); ok {
			member, _, _ = strings.Cut(member, " ")
			name = member[strings.LastIndexByte(member, '.')+1:]
		}
		return Field{name, "has a number that does not fit, or is not written as an integer"}
	case strings.HasPrefix(d.Message, "required ") && strings.HasSuffix(d.Message, " parameter is missing"):
		if e := expected(s, ""); e != "" {
			return Field{name, "is missing; " + e}
		}
		return Field{name, "is missing"}
	case strings.HasPrefix(d.Message, "expected value to match exactly one schema"):
		if s != nil && s.Description != "" {
			return Field{name, "is not what it may be: " + strings.TrimSuffix(s.Description, ".")}
		}
		return Field{name, "is none of the forms that the documentation names, or too long or too short"}
	}
	if v, ok := d.Value.(string); ok && (strings.HasPrefix(d.Message, "expected length") || strings.HasPrefix(d.Message, "expected minimum length")) {
		return Field{name, fmt.Sprintf("has %d characters; %s", utf8.RuneCountInString(v), d.Message)}
	}
	problem := expected(s, d.Message)
	if value := repeated(d); value != "" {
		problem = "is " + value + "; " + problem
	}
	return Field{name, problem}
}

// numbers are those that huma prints as Go prints floats.
var numbers = regexp.MustCompile(`\d(\.\d+)?e\+\d+`)

// expected says what a value should be: of a number from where to where, of
// anything else what huma says.
func expected(s *huma.Schema, otherwise string) string {
	if strings.HasSuffix(otherwise, " boolean") {
		return "expected true or false"
	}
	if s == nil || s.Type != huma.TypeInteger && s.Type != huma.TypeNumber || strings.HasPrefix(otherwise, "expected number to be a multiple") {
		return numbers.ReplaceAllStringFunc(otherwise, func(n string) string {
			f, err := strconv.ParseFloat(n, 64)
			if err != nil {
				return n
			}
			return plainNumber(f)
		})
	}
	a := "expected " + s.Type
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return a + " from " + plainNumber(*s.Minimum) + " to " + plainNumber(*s.Maximum)
	case s.Minimum != nil:
		return a + " >= " + plainNumber(*s.Minimum)
	case s.Maximum != nil:
		return a + " <= " + plainNumber(*s.Maximum)
	}
	return a
}

func plainNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// repeatedMost is how many characters of a value are repeated.
const repeatedMost = 40

// repeated is a value as a problem repeats it: a number, or a few words where a
// number or one of few words was expected. Other text is left out, and whatever
// looks like a secret.
func repeated(d *huma.ErrorDetail) string {
	switch v := d.Value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case int:
		return strconv.Itoa(v)
	case float64:
		return plainNumber(v)
	case bool:
		return strconv.FormatBool(v)
	case string:
		short := slices.ContainsFunc([]string{"invalid ", "expected number", "expected integer", "expected boolean", "expected value to be one of"},
			func(start string) bool { return strings.HasPrefix(d.Message, start) })
		if _, secret := text.Secrets(v); v == "" || !short || secret || strings.HasPrefix(d.Location, "header.") {
			return ""
		}
		return strconv.Quote(clip(v, repeatedMost))
	}
	return ""
}

// fieldName is a location without its first part: body.tags[1] is tags[1].
func fieldName(location string) string {
	if location == "body" {
		return "request body"
	}
	for _, part := range []string{"body.", "query.", "path.", "header."} {
		if name, ok := strings.CutPrefix(location, part); ok {
			return name
		}
	}
	return location
}
