package access

import (
	"testing"

	"agentsocial/shared/wire"
)

func TestWanted_Defaults(t *testing.T) {
	for _, c := range []struct {
		body       *wire.NewLinkCode
		days, uses int
	}{
		{nil, 7, 1}, {&wire.NewLinkCode{}, 7, 1}, {&wire.NewLinkCode{Days: 1}, 1, 1}, {&wire.NewLinkCode{Uses: 5}, 7, 5},
	} {
		if days, uses := (&mintLinkCodeIn{Body: c.body}).wanted(); days != c.days || uses != c.uses {
			t.Errorf("wanted(%+v) = %d days, %d uses, want %d, %d", c.body, days, uses, c.days, c.uses)
		}
	}
}
