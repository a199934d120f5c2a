package api

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"agentsocial/tables/id"
)

// A cursor continues a list on its next page. It holds the sort keys at which the previous
// page ended. It is not secret, because it only sets where a query begins.

const cursorMost = 1024 // bytes, decoded

// EncodeCursor makes a cursor from positions, which must not have NUL bytes.
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
	return nil, Fail(BadCursor, "before=%q was not issued by this endpoint.", clip(cursor, 60))
}

// CursorID reads a cursor whose only position is an id of the given kind. It returns "" for
// an empty cursor.
func CursorID(cursor string, kind id.Kind) (string, error) {
	if cursor == "" {
		return "", nil
	}
	p, err := DecodeCursor(cursor, 1)
	if err != nil {
		return "", err
	}
	if !kind.Valid(p[0]) {
		return "", ForeignCursor()
	}
	return p[0], nil
}

// ForeignCursor refuses a cursor whose positions the endpoint would not issue.
func ForeignCursor() *Error {
	return Fail(BadCursor, "The cursor in `before` was not issued by this endpoint.")
}
