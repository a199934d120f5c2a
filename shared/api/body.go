package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Bounds of a JSON body. They are checked before the body is decoded.
const (
	maxDepth   = 32  // levels of nesting; no endpoint needs more than 3
	maxValues  = 50  // values in an endpoint's body; no endpoint needs more than 30
	maxMessage = 500 // values in a batch of twenty messages, or in a client's metadata
)

// CheckJSON refuses a body that is not one JSON value. Unlike encoding/json, it also
// refuses invalid UTF-8, lone surrogates, duplicate members, more than maxDepth levels, and
// more than maxMessage values.
func CheckJSON(body []byte) error { return checkJSON(body, maxMessage, false) }

// CheckLooseJSON is CheckJSON for an object that may have unknown members. It also refuses
// members whose names differ only in case: encoding/json would keep only the last.
func CheckLooseJSON(body []byte) error { return checkJSON(body, maxMessage, true) }

func checkJSON(body []byte, most int, anyCase bool) error {
	if !utf8.Valid(body) {
		return Fail(BadJSON, "The body is not valid UTF-8.")
	}
	if loneSurrogate(body) {
		return Fail(BadJSON, `The body has a \uD800-\uDFFF escape that is not half of a surrogate pair.`)
	}
	switch values, depth := measure(body); {
	case depth > maxDepth:
		return Fail(BadJSON, "The body is nested more than %d levels deep.", maxDepth)
	case values > most:
		return BadField(wholeBody, "has more than %d values", most)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err := checkValue(dec, anyCase)
	var dup duplicateMember
	switch {
	case errors.As(err, &dup):
		return Fail(BadJSON, "The member %s occurs twice in one object.", quoted(string(dup)))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Fail(BadJSON, "The body ends in the middle of a JSON value (after %d bytes).", len(body))
	case err != nil:
		return Fail(BadJSON, "The body is not JSON: %s.", syntax(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Fail(BadJSON, "The body has something after its JSON value.")
	}
	return nil
}

// loneSurrogate reports whether a body has an escape that encoding/json would silently
// replace by U+FFFD.
func loneSurrogate(body []byte) bool {
	unit := func(i int) rune { // the UTF-16 unit escaped at i, or -1
		if i+6 > len(body) || body[i] != '\\' || body[i+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(body[i+2:i+6]), 16, 32)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	for i := bytes.IndexByte(body, '\\'); i >= 0 && i < len(body); i++ {
		if body[i] != '\\' {
			continue
		}
		u := unit(i)
		switch {
		case !utf16.IsSurrogate(u):
			i++ // the escaped character, which may be a backslash
		case utf16.DecodeRune(u, unit(i+6)) == utf8.RuneError:
			return true
		default:
			i += 11
		}
	}
	return false
}

type duplicateMember string

func (d duplicateMember) Error() string { return "duplicate member" }

// stringEnd returns the index of the quote that ends the JSON string beginning at i.
// Without an end, it returns at least len(body).
func stringEnd(body []byte, i int) int {
	for i++; i < len(body) && body[i] != '"'; i++ {
		if body[i] == '\\' {
			i++
		}
	}
	return i
}

// measure returns how many values a body has and how deep they are nested, without decoding
// it. An empty list or object counts as two values.
func measure(body []byte) (values, depth int) {
	level, values := 0, 1
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			i = stringEnd(body, i)
		case '[', '{':
			values++
			level++
			depth = max(depth, level)
		case ']', '}':
			level--
		case ',':
			values++
		}
	}
	return values, depth
}

func checkValue(dec *json.Decoder, anyCase bool) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	var seen map[string]bool
	if delim == '{' {
		seen = map[string]bool{}
	}
	for dec.More() {
		if delim == '{' {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			n, _ := name.(string)
			one := n
			if anyCase {
				one = strings.ToLower(strings.ToUpper(n)) // encoding/json takes ſ for s
			}
			if seen[one] {
				return duplicateMember(n)
			}
			seen[one] = true
		}
		if err := checkValue(dec, anyCase); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

func syntax(err error) string {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Sprintf("%s, at byte %d", s.Error(), s.Offset)
	}
	return "syntax error"
}

// checkContentType accepts JSON, plain text, curl's default, and no content type.
func checkContentType(r *http.Request) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	ct, params, err := mime.ParseMediaType(header)
	charset := strings.ToLower(params["charset"])
	switch {
	case err == nil && charset != "" && charset != "utf-8":
		return Fail(UnsupportedMedia, "The body's charset is %q; JSON is UTF-8.", clip(charset, 40))
	case err == nil && (ct == "application/json" || ct == "application/x-www-form-urlencoded" || strings.HasSuffix(ct, "+json") || ct == "text/plain"):
		return nil
	}
	return Fail(UnsupportedMedia, "The body's content type is %q; this endpoint reads JSON.", clip(header, 60))
}

// checkMedia accepts the content types that an endpoint names, no content type, and
// curl's default.
func checkMedia(r *http.Request, media []string) error {
	header := r.Header.Get("Content-Type")
	if header == "" {
		return nil
	}
	ct, params, err := mime.ParseMediaType(header)
	charset := strings.ToLower(params["charset"])
	switch {
	case err == nil && charset != "" && charset != "utf-8":
		return Fail(UnsupportedMedia, "The body's charset is %q; this endpoint reads UTF-8.", clip(charset, 40)).
			WithHint("Send UTF-8, as %s, or without a content type.", media[0])
	case err == nil && (slices.Contains(media, ct) || ct == "application/x-www-form-urlencoded"):
		return nil
	}
	return Fail(UnsupportedMedia, "The body's content type is %q; this endpoint reads %s.", clip(header, 60), strings.Join(media, ", ")).
		WithHint("Send it as %s, or without a content type.", media[0])
}

func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n]) + "…"
}

func visibleASCII(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for _, b := range []byte(s) {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return true
}

// addressBlock returns the addresses that count as one caller: an IPv4 address, or the /64
// of an IPv6 address. It returns other strings unchanged.
func addressBlock(s string) string {
	if a, err := netip.ParseAddrPort(s); err == nil {
		s = a.Addr().String()
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return s
	}
	a = a.Unmap()
	if a.Is4() {
		return a.String()
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return s
	}
	return p.String()
}
