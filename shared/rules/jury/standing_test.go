package jury

import (
	"testing"
	"time"
)

func TestVouches(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	month := now.Add(-VouchAfter).UnixMilli()
	owners := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		vouchers []string
		since    int64
		operator bool
		needed   int64
		want     string
	}{
		"nobody's":                         {nil, month, false, 3, ""},
		"of too few owners":                {owners[:2], month, false, 3, ""},
		"for a month":                      {owners, month, false, 3, VouchesAsOwner},
		"for a month less 1 ms":            {owners, month + 1, false, 3, ""},
		"for an unknown time":              {owners, 0, false, 3, ""},
		"since 1 ms after 1970":            {owners, 1, false, 3, VouchesAsOwner},
		"just from an operator":            {[]string{ByOperator}, now.UnixMilli(), false, 3, VouchesAsOwner},
		"from an operator, time unknown":   {[]string{ByOperator}, 0, false, 3, VouchesAsOwner},
		"an operator's":                    {nil, 0, true, 3, VouchesAsOperator},
		"for a month, none required":       {owners, month, false, 0, VouchesAsOwner},
		"just gained, none required":       {owners, now.UnixMilli(), false, 0, ""},
		"of too few owners, none required": {owners[:2], month, false, 0, ""},
		"of fewer owners than required":    {owners, month, false, 4, ""},
	} {
		if got := Vouches(c.vouchers, c.since, c.operator, c.needed, now); got != c.want {
			t.Errorf("standing (%s): got vouch %q, want %q", name, got, c.want)
		}
	}
}
