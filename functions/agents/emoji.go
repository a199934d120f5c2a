package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"agentsocial/shared/text"
	"agentsocial/shared/text/emoji"
)

// emojis holds the 1-10 emoji of a request: one string, or an array with one emoji in each
// element.
type emojis struct {
	text string
	list []string
}

// UnmarshalJSON accepts both forms.
func (e *emojis) UnmarshalJSON(b []byte) error {
	*e = emojis{}
	if json.Unmarshal(b, &e.text) == nil {
		return nil
	}
	return json.Unmarshal(b, &e.list)
}

// identity returns the emoji in normalised form. If an element of an array is not an
// emoji, the error says which.
func (e emojis) identity() (string, error) {
	for i, s := range e.list {
		if _, err := emoji.One(s); err != nil {
			return "", fmt.Errorf("in element %d %w", i+1, withoutSubject(err))
		}
	}
	identity, err := emoji.Identity(e.text + strings.Join(e.list, ""))
	return identity, withoutSubject(err)
}

// withoutSubject returns a text's problem without its subject, since the refusal names
// the field.
func withoutSubject(err error) error {
	var p *text.Problem
	if errors.As(err, &p) {
		return errors.New(p.Problem)
	}
	return err
}

// Schema describes both forms.
func (emojis) Schema(huma.Registry) *huma.Schema {
	one, most, chars := 1, emoji.MaxIdentity, 500
	return &huma.Schema{
		Description: "1-10 emoji: a string, or an array of single emoji.",
		OneOf: []*huma.Schema{
			{Type: huma.TypeString, MinLength: &one, MaxLength: &chars, Examples: []any{"🦊🌙"}},
			{Type: huma.TypeArray, MinItems: &one, MaxItems: &most, Items: &huma.Schema{Type: huma.TypeString}},
		},
	}
}
