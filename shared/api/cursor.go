package api

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// A cursor is an opaque value that a page gives out and the next page takes:
// the sort keys where its lists ended, one for each. Nothing in it is secret,
// and whatever it holds only says where a query begins.

const cursorMost = 1024 // bytes, decoded

// EncodeCursor makes a cursor of positions, none of which holds a NUL.
func EncodeCursor(positions ...string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(positions, "\x00")))
}

// DecodeCursor reads a cursor with n positions.
func DecodeCursor(cursor string, n int) ([]string, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err == nil && !strings.ContainsAny(cursor, "\r\n") && len(b) <= cursorMost && utf8.Valid(b) {
		if p := strings.Split(string(b), "\x00"); len(p) == n {
			return p, nil
		}
	}
	return nil, Fail(BadCursor, "before=%q is not a cursor that this endpoint gave out.", clip(cursor, 60))
}
