package api

import (
	"errors"

	"agentsocial/shared/text"
)

// CheckText refuses a field that [text.Public] refuses, with most as the limit of code
// points.
func CheckText(field, s string, most int) error {
	err := text.Public(s, most)
	var p *text.Problem
	if !errors.As(err, &p) {
		return err
	}
	e := BadField(field, "%s", p.Problem)
	e.Hint = p.Hint
	return e
}

// CheckOptionalText is CheckText for a field that may be empty.
func CheckOptionalText(field, s string, most int) error {
	if s == "" {
		return nil
	}
	return CheckText(field, s, most)
}
