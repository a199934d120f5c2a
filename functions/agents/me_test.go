package agents

import (
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const hour = int64(time.Hour / time.Millisecond)

func TestOwnProfile_Limits(t *testing.T) {
	now := noon.UnixMilli()
	at := func(ms int64) *int64 { return &ms }
	c := &api.Call{Time: noon, App: &app.App{Settings: app.DefaultSettings()}}
	for name, test := range map[string]struct {
		p           tables.Profile
		karma       int64
		left        int64
		channel     *int64
		idea, holds *int64
	}{
		"new":                     {p: tables.Profile{CreatedAt: now}, left: 3, channel: at(now + 24*hour)},
		"one created":             {p: tables.Profile{CreatedAt: now - 1000*hour, ChannelAt: now, ChannelsCreated: 1}, left: 2, channel: at(now + 7*24*hour)},
		"created long ago":        {p: tables.Profile{CreatedAt: 5, ChannelAt: 7, ChannelsCreated: 1}, left: 2, channel: at(7 + 7*24*hour)},
		"created while young":     {p: tables.Profile{CreatedAt: now, ChannelAt: now - 7*24*hour, ChannelsCreated: 1}, left: 2, channel: at(now + 24*hour)},
		"created at 1 ms":         {p: tables.Profile{ChannelAt: 1, ChannelsCreated: 1}, left: 2, channel: at(1 + 7*24*hour)},
		"all created":             {p: tables.Profile{ChannelsCreated: 3}},
		"one left":                {p: tables.Profile{ChannelsCreated: 2}, left: 1, channel: at(24 * hour)},
		"more created than free":  {p: tables.Profile{ChannelsCreated: 4}, karma: 49},
		"karma for no channel":    {karma: 49, left: 3, channel: at(24 * hour)},
		"karma for a channel":     {karma: 50, left: 4, channel: at(24 * hour)},
		"karma below zero":        {karma: -100, left: 3, channel: at(24 * hour)},
		"karma for all but one":   {karma: 849, left: 19, channel: at(24 * hour)},
		"karma for all":           {karma: 850, left: 20, channel: at(24 * hour)},
		"karma for more than all": {karma: 9000, left: 20, channel: at(24 * hour)},
		"an idea":                 {p: tables.Profile{IdeaAt: now - 7*24*hour + 1, ChannelsCreated: 3}, idea: at(now + 1)},
		"an idea a week ago":      {p: tables.Profile{IdeaAt: now - 7*24*hour, ChannelsCreated: 3}},
		"held":                    {p: tables.Profile{HoldUntil: now + 1, ChannelsCreated: 3}, holds: at(now + 1)},
		"held until now":          {p: tables.Profile{HoldUntil: now, ChannelsCreated: 3}},
	} {
		v := ownProfile(c, &test.p, &tables.Counters{Karma: test.karma}, 0, 0)
		same := func(what string, got, want *int64) {
			t.Helper()
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Errorf("%s: %s: got %v, want %v", name, what, shown(got), shown(want))
			}
		}
		if v.Limits.ChannelsLeft != test.left {
			t.Errorf("%s: channels left: got %d, want %d", name, v.Limits.ChannelsLeft, test.left)
		}
		same("next channel", v.Limits.NextChannelAt, test.channel)
		same("next idea", v.Limits.NextIdeaAt, test.idea)
		same("hold", v.HoldUntil, test.holds)
	}
}

func shown(ms *int64) any {
	if ms == nil {
		return "none"
	}
	return *ms
}

func TestOriginState_PendingUntilExpiry(t *testing.T) {
	for until, want := range map[int64]string{0: "none", 99: "none", 100: "none", 101: "pending"} {
		if got := originState(&tables.Profile{OriginUntil: until}, 100); got != want {
			t.Errorf("code expires at %d: got %q at 100, want %q", until, got, want)
		}
	}
	if got := originState(&tables.Profile{Origin: "verified", OriginUntil: 101}, 100); got != "verified" {
		t.Errorf("verified and pending: got %q, want verified", got)
	}
}

func TestCleanTag(t *testing.T) {
	for given, want := range map[string]string{
		"az-09": "az-09", "AZ": "az", "x": "x", strings.Repeat("x", 30): strings.Repeat("x", 30),
		"": "", strings.Repeat("x", 31): "", "a@": "", "a[": "", "a`": "", "a{": "", "a/": "", "a:": "", "a b": "", "é": "",
	} {
		if got, ok := cleanTag(given); ok != (want != "") || ok && got != want {
			t.Errorf("cleanTag(%q) = %q, %t, want %q (\"\": no tag)", given, got, ok, want)
		}
	}
	for n, want := range map[int]int{40: 40, 41: 41} { // the 41st is "…"
		if got := []rune(clipTag(strings.Repeat("é", n))); len(got) != want || (got[len(got)-1] == '…') != (n > 40) {
			t.Errorf("clipTag of %d characters = %q, want %d characters, and … only if it was cut", n, string(got), want)
		}
	}
}
