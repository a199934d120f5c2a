package channels

import (
	"errors"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

func TestMayCreate_Limits(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) int64 { return now.Add(-d).UnixMilli() }
	const day, ms = 24 * time.Hour, time.Millisecond
	for name, c := range map[string]struct {
		p       tables.Profile
		created int64
		k       tables.Counters
		want    api.Code
		at      time.Time
	}{
		"account a day old":        {p: tables.Profile{CreatedAt: ago(day)}},
		"account a ms younger":     {p: tables.Profile{CreatedAt: ago(day - ms)}, want: api.AccountTooYoung, at: now.Add(ms)},
		"a week after a channel":   {p: tables.Profile{ChannelAt: ago(7 * day)}, created: 1},
		"a ms less than a week":    {p: tables.Profile{ChannelAt: ago(7*day - ms)}, created: 1, want: api.TooSoon, at: now.Add(ms)},
		"third channel":            {created: 2},
		"fourth channel, no karma": {created: 3, want: api.KarmaRequired},
		"fourth channel, 50 karma": {created: 3, k: tables.Counters{Karma: 50}},
		"fourth channel, 49 karma": {created: 3, k: tables.Counters{Karma: 49}, want: api.KarmaRequired},
		"twentieth channel":        {created: 19, k: tables.Counters{Karma: 850}},
		"twenty-first channel":     {created: 20, k: tables.Counters{Karma: 9000}, want: api.LimitReached},
	} {
		err := mayCreate(&api.Call{Time: now}, tables.ChannelQuota{Created: c.created, Now: now}, &c.p, &c.k)
		var e *api.Error
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: got error %v, want none", name, err)
		case c.want != "" && (!errors.As(err, &e) || e.Code != c.want || !e.RetryAt.Equal(c.at)):
			t.Errorf("%s: got error %+v, want %s, retry at %s", name, err, c.want, c.at)
		}
	}
	for lost, says := range map[int64]bool{0: false, 1: true} {
		err := mayCreate(&api.Call{Time: now}, tables.ChannelQuota{Created: 3, Now: now}, &tables.Profile{}, &tables.Counters{Lost: lost})
		if got := strings.Contains(err.Error(), "only you see"); got != says {
			t.Errorf("%d karma lost: the error %q mentions the loss: got %t, want %t", lost, err, got, says)
		}
	}
}

func TestUpTo_CutsByBytes(t *testing.T) {
	post := func(size int) wire.Post {
		return wire.Post{ID: string(rune('a' + size)), Body: strings.Repeat("x", size)}
	}
	for _, c := range []struct {
		sizes []int
		want  int
		next  string
	}{
		{nil, 0, "next"}, {[]int{3, 2}, 2, "next"}, {[]int{3, 3}, 1, "d"}, {[]int{6}, 1, "next"}, {[]int{6, 1}, 1, "g"}, {[]int{1, 4, 1}, 2, "e"},
	} {
		l := listing{next: "next"}
		for _, n := range c.sizes {
			l.items = append(l.items, post(n))
		}
		if got := l.upTo(5); len(got.items) != c.want || got.next != c.next {
			t.Errorf("posts of %v bytes, cut to 5 bytes: got %d posts and next %q, want %d and %q", c.sizes, len(got.items), got.next, c.want, c.next)
		}
	}
}
