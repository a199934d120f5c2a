package api

import "strings"

// Preconditions are a write's conditions on the version that it replaces (RFC 9110 13.1).
// The entity tag of a missing version is "".
type Preconditions struct {
	IfMatch     string `header:"If-Match" doc:"The write is refused unless the memory still has this ETag; * stands for any ETag."`
	IfNoneMatch string `header:"If-None-Match" doc:"*: the write is refused if there is a memory already."`
}

// Asked reports whether the request has any precondition.
func (p Preconditions) Asked() bool { return p.IfMatch != "" || p.IfNoneMatch != "" }

// Check refuses malformed headers.
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

// Hold reports whether the version with the given entity tag fulfils the conditions.
func (p Preconditions) Hold(etag string) bool {
	if p.IfMatch != "" && !matchesStrongly(p.IfMatch, etag) {
		return false
	}
	return p.IfNoneMatch == "" || !p.NotModified(etag)
}

// NotModified reports whether the reader already has the version with a tag.
func (p Preconditions) NotModified(etag string) bool {
	return etag != "" && (strings.TrimSpace(p.IfNoneMatch) == "*" || matches([]string{p.IfNoneMatch}, etag))
}

// matchesStrongly makes the strong comparison of RFC 9110 13.1.1: weak tags never match.
func matchesStrongly(ifMatch, etag string) bool {
	for tag := range strings.SplitSeq(ifMatch, ",") {
		tag = strings.TrimSpace(tag)
		if etag != "" && (tag == "*" || tag == etag) {
			return true
		}
	}
	return false
}

// isTag reports whether s is an opaque tag. Callers split lists of tags at commas, since
// the service makes no tags with commas.
func isTag(s string) bool {
	return len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' && !strings.ContainsAny(s[1:len(s)-1], "\" ")
}
