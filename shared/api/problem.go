package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentsocial/shared/wire"
)

// badFields refuses a request. The message describes the first wrong field, and names up to
// five others.
func badFields(fields []wire.FieldProblem) *Error {
	const named = 5
	e := &Error{Code: Invalid, Fields: fields}
	e.Message = quoted(fields[0].Field)
	if p := fields[0].Problem; !strings.HasPrefix(p, "is ") && !strings.HasPrefix(p, "has ") {
		e.Message += ":"
	}
	e.Message += " " + fields[0].Problem
	var others []string
	for _, f := range fields[1:] {
		if name := quoted(f.Field); f.Field != fields[0].Field && !slices.Contains(others, name) {
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

// quoted quotes a caller's text for a message, shortened to 60 characters. If it is
// still longer than 240 bytes, quoted shortens it further.
func quoted(s string) string {
	const most = 60
	q := strconv.Quote(clip(s, most))
	for n := most / 2; len(q) > 4*most; n /= 2 { // 60 letters of three bytes pass
		q = strconv.Quote(clip(s, n))
	}
	return q
}
