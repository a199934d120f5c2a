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

// maxDepth of a JSON body; no endpoint needs more than 3.
const maxDepth = 32

// CheckJSON refuses what encoding/json lets pass or tells badly: bytes that
// are not UTF-8, members that stand twice in one object, more than one value,
// deep nesting.
func CheckJSON(body []byte) error { return checkJSON(body, false) }

// CheckLooseJSON is CheckJSON for an object of which not all members are known. It
// refuses those, too, that only their case tells apart: no schema refuses the
// other one, and encoding/json would take the last for both.
func CheckLooseJSON(body []byte) error { return checkJSON(body, true) }

func checkJSON(body []byte, anyCase bool) error {
	if !utf8.Valid(body) {
		return Fail(BadJSON, "The body is not valid UTF-8.")
	}
	if loneSurrogate(body) {
		return Fail(BadJSON, `The body has a \uD800-\uDFFF escape that is not half of a pair: no character.`)
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	err := checkValue(dec, 0, anyCase)
	var dup duplicateMember
	switch {
	case errors.As(err, &dup):
		return Fail(BadJSON, "The member %q stands twice in one object.", clip(string(dup), 40))
	case errors.Is(err, errTooDeep):
		return Fail(BadJSON, "The body is nested more than %d levels deep.", maxDepth)
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

// loneSurrogate finds an escape that encoding/json would silently change into
// U+FFFD. A backslash stands only in strings.
func loneSurrogate(body []byte) bool {
	unit := func(i int) rune { // of an escape at i; -1 if there is none
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
			i++ // what is escaped, which may be a backslash
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

var errTooDeep = errors.New("too deep")

func checkValue(dec *json.Decoder, depth int, anyCase bool) error {
	if depth > maxDepth {
		return errTooDeep
	}
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
				one = strings.ToLower(strings.ToUpper(n)) // ſ is s to encoding/json
			}
			if seen[one] {
				return duplicateMember(n)
			}
			seen[one] = true
		}
		if err := checkValue(dec, depth+1, anyCase); err != nil {
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

// checkContentType accepts JSON, none, and what curl sends when nothing is said.
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

// checkMedia accepts the content types that an endpoint names, none, and what
// curl sends when nothing is said.
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

// clip shortens what a message repeats of the caller's own words.
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

// addressBlock is what counts as one caller: an IPv4 address, or the /64 of an
// IPv6 one. What is no address counts as itself.
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
