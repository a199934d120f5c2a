package api

import "strings"

// Preconditions are what a write holds against the version that it replaces
// (RFC 9110 13.1); inputs embed them. An entity tag is "" where there is none.
type Preconditions struct {
	IfMatch     string `header:"If-Match" doc:"Replace only the version with this ETag; * is any."`
	IfNoneMatch string `header:"If-None-Match" doc:"* replaces nothing: it creates, or is refused."`
}

// Asked reports whether there are any.
func (p Preconditions) Asked() bool { return p.IfMatch != "" || p.IfNoneMatch != "" }

// Check refuses headers that cannot be read: a write must not go on as if they
// had not been sent.
func (p Preconditions) Check() error {
	for _, h := range []struct{ name, value string }{{"If-Match", p.IfMatch}, {"If-None-Match", p.IfNoneMatch}} {
		if h.value == "" || strings.TrimSpace(h.value) == "*" {
			continue
		}
		for tag := range strings.SplitSeq(h.value, ",") {
			if !isTag(strings.TrimPrefix(strings.TrimSpace(tag), "W/")) {
				return BadField(h.name, "has %q, which is neither * nor an ETag in its double quotes", clip(tag, 80))
			}
		}
	}
	return nil
}

// Hold reports whether they hold for the version with a tag.
func (p Preconditions) Hold(etag string) bool {
	if p.IfMatch != "" && !matchesStrongly(p.IfMatch, etag) {
		return false
	}
	return p.IfNoneMatch == "" || !p.NotModified(etag)
}

// NotModified reports whether a reader has the version with a tag already.
func (p Preconditions) NotModified(etag string) bool {
	return etag != "" && matches([]string{p.IfNoneMatch}, etag)
}

// matchesStrongly is the strong comparison of RFC 9110 13.1.1, which no weak
// tag passes.
func matchesStrongly(ifMatch, etag string) bool {
	for tag := range strings.SplitSeq(ifMatch, ",") {
		tag = strings.TrimSpace(tag)
		if etag != "" && (tag == "*" || tag == etag) {
			return true
		}
	}
	return false
}

// isTag reports whether s is an opaque tag. Those with commas, which are
// allowed, would be cut; the service makes none.
func isTag(s string) bool {
	return len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && !strings.ContainsAny(s[1:len(s)-1], "\" ")
}
