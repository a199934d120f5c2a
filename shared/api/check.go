package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/shared/text"
	"agentsocial/shared/wire"
)

// problems collects what is wrong with a request's arguments. It replaces huma's validation
// in order to choose the wording.
type problems struct {
	schemas huma.Registry
	quiet   bool // messages must not repeat values
	fields  []wire.FieldProblem
	unknown int // number of unknown members; they come first in fields, as they may be misspelt required ones
}

const (
	// problemsMost bounds the problems that a refusal lists.
	problemsMost = 10
	// repeatedMost bounds the characters of a value that a message repeats. secretMost bounds
	// the bytes of the value that are searched for a secret.
	repeatedMost, secretMost = 40, 1 << 10
	// wholeBody is the field of problems with the whole body.
	wholeBody = "request body"
)

func (p *problems) full() bool { return len(p.fields) >= problemsMost }

func (p *problems) add(field, format string, args ...any) {
	if field == "" {
		field = wholeBody
	}
	if !p.full() {
		p.fields = append(p.fields, wire.FieldProblem{Field: field, Problem: fmt.Sprintf(format, args...)})
	}
}

func (p *problems) missing(name string, s *huma.Schema) {
	if s.Type == huma.TypeInteger || s.Type == huma.TypeNumber {
		p.add(name, "is missing; %s", expectedNumber(s))
		return
	}
	p.add(name, "is missing")
}

// unfit notes a number that its Go type cannot hold.
func (p *problems) unfit(err error) {
	var e *json.UnmarshalTypeError
	name := ""
	if errors.As(err, &e) {
		name = e.Field[strings.LastIndexByte(e.Field, '.')+1:]
	}
	p.add(name, "has a number that is out of range")
}

// check reports whether a value fits a schema, and notes the problems.
func (p *problems) check(name string, s *huma.Schema, v any) bool {
	if p.full() {
		return false
	}
	before := len(p.fields)
	s = p.resolved(s)
	if v == nil && s.Nullable {
		return true
	}
	switch s.Type {
	case "":
		p.checkOneOf(name, s, v)
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			p.add(name, "%sexpected true or false", p.said(v))
		}
	case huma.TypeInteger, huma.TypeNumber:
		n, ok := number(v)
		if !ok || s.Type == huma.TypeInteger && n != math.Trunc(n) || s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
			p.add(name, "%s%s", p.said(v), expectedNumber(s))
		}
	case huma.TypeString:
		p.checkText(name, s, v)
	case huma.TypeArray:
		p.checkList(name, s, v)
	case huma.TypeObject:
		p.checkObject(name, s, v)
	}
	return len(p.fields) == before
}

func (p *problems) checkOneOf(name string, s *huma.Schema, v any) {
	fits := 0
	for _, one := range s.OneOf {
		alone := problems{schemas: p.schemas}
		if alone.check(name, one, v) {
			fits++
		}
	}
	switch {
	case fits == 1:
	case s.Description != "":
		p.add(name, "is not valid; expected %s", strings.TrimSuffix(s.Description, "."))
	default:
		p.add(name, "has none of the documented forms, or is too long or too short")
	}
}

func (p *problems) checkText(name string, s *huma.Schema, v any) {
	str, ok := v.(string)
	if !ok {
		p.add(name, "%sexpected string", p.said(v))
		return
	}
	chars := utf8.RuneCountInString(str)
	if s.MinLength != nil && chars < *s.MinLength {
		p.add(name, "has %d characters; expected length >= %d", chars, *s.MinLength)
	}
	if s.MaxLength != nil && chars > *s.MaxLength {
		p.add(name, "has %d characters; expected length <= %d", chars, *s.MaxLength)
	}
	if s.Pattern != "" && !pattern(s.Pattern).MatchString(str) {
		if s.PatternDescription != "" {
			p.add(name, "must consist %s", s.PatternDescription)
		} else {
			p.add(name, "does not match the pattern %s", s.Pattern)
		}
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			words[i] = fmt.Sprint(word)
		}
		p.add(name, "%sexpected one of: %s", p.said(v), strings.Join(words, ", "))
	}
}

func (p *problems) checkList(name string, s *huma.Schema, v any) {
	list, ok := v.([]any)
	if !ok {
		p.add(name, "%sexpected array", p.saidBriefly(v))
		return
	}
	if s.MinItems != nil && len(list) < *s.MinItems {
		p.add(name, "has %d elements; expected length >= %d", len(list), *s.MinItems)
	}
	if s.MaxItems != nil && len(list) > *s.MaxItems {
		p.add(name, "has %d elements; expected length <= %d", len(list), *s.MaxItems)
	}
	for i, item := range list {
		if p.full() {
			return
		}
		p.check(name+"["+strconv.Itoa(i)+"]", s.Items, item)
	}
}

func (p *problems) checkObject(name string, s *huma.Schema, v any) {
	members, ok := v.(map[string]any)
	if !ok {
		p.add(name, "%sexpected object", p.saidBriefly(v))
		return
	}
	within := func(member string) string {
		if name == "" {
			return member
		}
		return name + "." + member
	}
	known := slices.Sorted(maps.Keys(s.Properties))
	for _, member := range known {
		value, there := members[member]
		required := slices.Contains(s.Required, member)
		switch {
		case !there && required:
			p.add(within(member), "is missing")
		case there && (value != nil || required && !s.Nullable):
			p.check(within(member), s.Properties[member], value)
		}
	}
	if s.AdditionalProperties != false {
		return
	}
	for _, member := range firstNames(maps.Keys(members), func(member string) bool { return s.Properties[member] == nil }) {
		p.addUnknown(within(member), known)
	}
}

// firstNames returns the first problemsMost names for which keep is true, sorted. Sorting
// all names would cost more.
func firstNames(names iter.Seq[string], keep func(string) bool) (first []string) {
	for name := range names {
		if full := len(first) == problemsMost; !keep(name) || full && name > first[problemsMost-1] {
			continue
		} else if full {
			first = first[:problemsMost-1]
		}
		at, _ := slices.BinarySearch(first, name)
		first = slices.Insert(first, at, name)
	}
	return first
}

func (p *problems) addUnknown(name string, known []string) {
	if p.unknown == problemsMost {
		return
	}
	f := wire.FieldProblem{Field: clip(name, 60), Problem: "is not a known member"}
	if len(known) > 0 {
		f.Problem += " (known are " + strings.Join(known, ", ") + ")"
	}
	p.fields = slices.Insert(p.fields, p.unknown, f)
	p.unknown++
	p.fields = p.fields[:min(len(p.fields), problemsMost)]
}

func (p *problems) resolved(s *huma.Schema) *huma.Schema {
	for s.Ref != "" {
		s = p.schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func expectedNumber(s *huma.Schema) string {
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

// plainNumber writes a number without an exponent, cut to repeatedMost characters.
func plainNumber(f float64) string {
	return clip(strconv.FormatFloat(f, 'f', -1, 64), repeatedMost)
}

// said quotes a string, unless p is quiet or the string looks like a secret.
func (p *problems) said(v any) string {
	str, ok := v.(string)
	if !ok {
		return p.saidBriefly(v)
	}
	if str == "" {
		return "is empty; "
	}
	if p.quiet {
		return "is not valid; "
	}
	if _, secret := text.Secrets(str[:min(len(str), secretMost)]); secret {
		return "is not valid; "
	}
	return "is " + strconv.Quote(clip(str, repeatedMost)) + "; "
}

// saidBriefly quotes a number, true or false. It only names the type of other values.
func (p *problems) saidBriefly(v any) string {
	switch v := v.(type) {
	case int64:
		return "is " + strconv.FormatInt(v, 10) + "; "
	case float64:
		return "is " + plainNumber(v) + "; "
	case bool:
		return "is " + strconv.FormatBool(v) + "; "
	case string:
		return "is a string; "
	case []any:
		return "is an array; "
	case map[string]any:
		return "is an object; "
	}
	return "is null; "
}

// mustCheck panics if a schema has a rule that check does not enforce.
func (p *problems) mustCheck(s *huma.Schema) {
	s = p.resolved(s)
	if _, ofOthers := s.AdditionalProperties.(*huma.Schema); ofOthers ||
		s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil || s.UniqueItems ||
		s.MinProperties != nil || s.MaxProperties != nil || len(s.DependentRequired) > 0 ||
		len(s.AnyOf)+len(s.AllOf) > 0 || s.Not != nil || s.ContentEncoding != "" ||
		s.Type == huma.TypeString && s.Format != "" || s.Type != huma.TypeString && len(s.Enum) > 0 ||
		(s.Type == "") != (len(s.OneOf) > 0) {
		panic(fmt.Sprintf("api: an input has a schema that is not checked: %+v", *s))
	}
	for _, inner := range slices.Concat(slices.Collect(maps.Values(s.Properties)), s.OneOf) {
		p.mustCheck(inner)
	}
	if s.Items != nil {
		p.mustCheck(s.Items)
	}
}

var patterns sync.Map

func pattern(expr string) *regexp.Regexp {
	if known, ok := patterns.Load(expr); ok {
		return known.(*regexp.Regexp)
	}
	made := regexp.MustCompile(expr)
	patterns.Store(expr, made)
	return made
}
