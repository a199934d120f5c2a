package api

import (
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

var (
	requestHeaders = map[string]string{
		"Idempotency-Key": "1-64 visible ASCII characters that you choose. If you send the same request again with the same key within 24 hours, it is not carried out again: the answer is the first outcome. You may sign the second request anew.",
		"If-None-Match":   "An ETag that you got before. The answer is 304 if nothing has changed since.",
	}
	answerHeaders = map[string]string{
		"ETag":                "The entity tag of this version, for If-None-Match and, where accepted, If-Match.",
		"Idempotent-Replayed": "true if the request was carried out before; the answer is its first outcome.",
		"Last-Modified":       "When this version was written.",
		"X-Memory-Size":       "The size of this version in bytes.",
	}
)

var numericHeaders = map[string]bool{"X-Memory-Size": true}

func headerType(name string) string {
	if numericHeaders[name] {
		return huma.TypeInteger
	}
	return huma.TypeString
}

func describeHeaders(c *huma.Components) {
	text := &huma.Schema{Type: huma.TypeString}
	c.Parameters, c.Headers = map[string]*huma.Param{}, map[string]*huma.Header{}
	for name, doc := range requestHeaders {
		c.Parameters[name] = &huma.Param{Name: name, In: "header", Description: doc, Schema: text}
	}
	// HTTP drops the white space around a header's value.
	c.Parameters["Idempotency-Key"].Schema = &huma.Schema{Type: huma.TypeString, Pattern: fmt.Sprintf(`^[ \t]*[!-~]{1,%d}[ \t]*$`, idempotencyKeyMost)}
	for name, doc := range answerHeaders {
		c.Headers[name] = &huma.Header{Description: doc, Schema: &huma.Schema{Type: headerType(name)}}
	}
}

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

// headerParams returns a request's headers besides those of its input.
func (e *Endpoint) headerParams() (list []*huma.Param) {
	if e.Writes() && e.Auth.Needed() {
		list = append(list, &huma.Param{Ref: "#/components/parameters/Idempotency-Key"})
	}
	if e.Cache > 0 {
		list = append(list, &huma.Param{Ref: "#/components/parameters/If-None-Match"})
	}
	return list
}
