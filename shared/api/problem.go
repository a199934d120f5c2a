package api

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentsocial/shared/wire"
)

// badFields refuses several fields. The message describes the first and names as
// many of the others as fit.
func badFields(fields []wire.Field) *Error {
	const named = 5
	e := &Error{Code: Invalid, Fields: fields}
	e.Message = strconv.Quote(clip(fields[0].Field, 60))
	if p := fields[0].Problem; !strings.HasPrefix(p, "is ") && !strings.HasPrefix(p, "has ") {
		e.Message += ":"
	}
	e.Message += " " + fields[0].Problem
	var others []string
	for _, f := range fields[1:] {
		if name := strconv.Quote(clip(f.Field, 60)); f.Field != fields[0].Field && !slices.Contains(others, name) {
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
