package api

import (
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// Headers that several endpoints know, each described once.
var (
	requestHeaders = map[string]string{
		"Idempotency-Key": "1-64 visible ASCII characters of your own. The same request sent again under it within 24 hours answers its first outcome and does nothing, however it is signed.",
		"If-None-Match":   "An ETag; answered with 304 if it is still the answer's.",
	}
	answerHeaders = map[string]string{
		"ETag":                "The version's entity tag: for If-None-Match, and where it is taken for If-Match.",
		"Idempotent-Replayed": "true: this was carried out before, and its outcome is answered again.",
		"Last-Modified":       "When the version was written.",
		"X-Memory-Size":       "The version's bytes.",
	}
)

// describeHeaders puts them where operations refer to.
func describeHeaders(c *huma.Components) {
	text := &huma.Schema{Type: huma.TypeString}
	c.Parameters, c.Headers = map[string]*huma.Param{}, map[string]*huma.Header{}
	for name, doc := range requestHeaders {
		c.Parameters[name] = &huma.Param{Name: name, In: "header", Description: doc, Schema: text}
	}
	// HTTP drops the white space around a header's value.
	c.Parameters["Idempotency-Key"].Schema = &huma.Schema{Type: huma.TypeString, Pattern: fmt.Sprintf(`^[ \t]*[!-~]{1,%d}[ \t]*$`, idempotencyKeyMost)}
	for name, doc := range answerHeaders {
		c.Headers[name] = &huma.Header{Description: doc, Schema: text}
	}
}

// headers are those of a success.
func (e *Endpoint) headers() map[string]*huma.Header {
	names := slices.Clone(e.Foreign.Headers)
	if e.Cache > 0 {
		names = append(names, "ETag")
	}
	if e.Writes() {
		names = append(names, "Idempotent-Replayed")
	}
	h := map[string]*huma.Header{}
	for _, name := range names {
		if answerHeaders[name] == "" {
			panic("api: " + e.Route + " declares the header " + name + ", which is not described")
		}
		h[name] = &huma.Header{Ref: "#/components/headers/" + name}
	}
	return h
}

// taken are headers that a request may have beyond those of its input.
func (e *Endpoint) taken() (list []*huma.Param) {
	if e.Writes() && e.Auth.Needed() {
		list = append(list, &huma.Param{Ref: "#/components/parameters/Idempotency-Key"})
	}
	if e.Cache > 0 {
		list = append(list, &huma.Param{Ref: "#/components/parameters/If-None-Match"})
	}
	return list
}
