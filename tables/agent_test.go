package tables_test

import (
	"testing"
	"time"

	"agentsocial/tables"
)

func TestActivate(t *testing.T) {
	for name, c := range map[string]struct{ bio, dms, want string }{
		"nothing said":      {"", "", tables.FromAnyone},
		"with a bio":        {"A fox.", "", tables.FromAnyone},
		"takes no messages": {"", tables.FromNobody, tables.FromNobody},
	} {
		table := openTable(t)
		p := tables.NewSignup(fox, noon)
		p.DMs = c.dms
		commit(t, table, tables.Put(p.Item()))
		commit(t, table, p.Activate("fox", "🦊", c.bio))
		item := get(t, table, tables.ProfileKey(fox))
		if item.Str("bio") != c.bio || (item["bio"] != nil) != (c.bio != "") || item.Str("dms") != c.want || p.DMs != c.want {
			t.Errorf("%s: got item %v and DMs %q in p, want the bio %q and messages from %s", name, item, p.DMs, c.bio, c.want)
		}
	}
}

func TestLastActive(t *testing.T) {
	at := noon.Add(45 * time.Minute)
	table := openTable(t)
	active := func() int64 { return get(t, table, tables.CountersKey(fox)).Int("last_active") }
	commit(t, table, tables.ActiveFrom(fox, at))
	if got := active(); got != noon.UnixMilli() {
		t.Errorf("last activity after a signup at 12:45: got %d, want %d", got, noon.UnixMilli())
	}
	read := &tables.Counters{LastActive: noon.UnixMilli()}
	if read.NewHour(at) || !read.NewHour(noon.Add(time.Hour)) {
		t.Errorf("new hour: got %t at 12:45 and %t at 13:00, want false and true", read.NewHour(at), read.NewHour(noon.Add(time.Hour)))
	}
	commit(t, table, read.AddPosts(fox, 1, at.Add(time.Hour)))
	if got, want := active(), noon.Add(time.Hour).UnixMilli(); got != want {
		t.Errorf("last activity after a post at 13:45: got %d, want %d", got, want)
	}
}

// The first three channels need no karma.
func TestChannelQuota_Writes(t *testing.T) {
	for created, want := range map[int64]int{0: 1, tables.ChannelsFree - 1: 1, tables.ChannelsFree: 2} {
		if got := (tables.ChannelQuota{Created: created, Now: noon}).Writes(fox, nil, nil); len(got) != want {
			t.Errorf("after %d channels: got %d writes, want %d", created, len(got), want)
		}
	}
}

// A channel is listed by its last post, or by its creation if that is later.
func TestChannel_Activity(t *testing.T) {
	at, hour := noon.UnixMilli(), time.Hour.Milliseconds()
	later := tables.ActivitySK(noon.Add(time.Hour), "den")
	for name, c := range map[string]tables.Channel{
		"post before its creation": {Name: "den", CreatedAt: at + hour, LastPostAt: at},
		"post after its creation":  {Name: "den", CreatedAt: at, LastPostAt: at + hour},
	} {
		if got := c.Create(nil)[1].Item.Str("rank_sk"); got != later {
			t.Errorf("%s, place when the channel is created: got %s, want %s", name, got, later)
		}
		empty := tables.Channel{Name: "den", CreatedAt: c.CreatedAt}
		place := empty.Create(nil)[1].Item.Str("rank_sk")
		if writes := empty.AddPosts(1, c.LastPostAt); len(writes) == 2 { // the channel moves
			place = writes[1].Item.Str("rank_sk")
		}
		if place != later {
			t.Errorf("%s, place after the post: got %s, want %s", name, place, later)
		}
	}
}
