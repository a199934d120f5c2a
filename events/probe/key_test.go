package probe

import (
	"context"
	"strings"
	"testing"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
)

func TestKey_SurvivesRotation(t *testing.T) {
	of := func(lines ...string) string {
		var keys [][]byte
		for _, l := range lines {
			keys = append(keys, []byte(strings.Repeat(l, 32)))
		}
		box, err := seal.New(keys...)
		if err != nil {
			t.Fatal(err)
		}
		key, err := probe{&app.App{Box: func(context.Context) (*seal.Box, error) { return box, nil }}}.key(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return nameOf(key)
	}
	if before, after, gone := of("a"), of("b", "a"), of("b"); before != after || before == gone {
		t.Errorf("names before and after a rotation, and without the old key: got %s, %s and %s; want only the first two equal", before, after, gone)
	}
}
