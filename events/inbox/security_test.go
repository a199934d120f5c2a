package inbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

var then = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func changed(before, after tables.Item) tables.StreamRecord {
	return tables.StreamRecord{Event: "MODIFY", Key: after.Key(), Old: before, New: after, At: then}
}

func gone(item tables.Item, expired bool) tables.StreamRecord {
	return tables.StreamRecord{Event: "REMOVE", Key: item.Key(), Old: item, At: then, Expired: expired}
}

// told returns a security event as text.
func told(e *tables.InboxEvent) string {
	if e.Kind != tables.EventSecurity || e.From != (tables.Author{}) || e.Text != "" {
		return fmt.Sprintf("%+v", e)
	}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(e.Subject)) {
		words = append(words, fmt.Sprintf("%s=%v", name, e.Subject[name]))
	}
	return fmt.Sprintf("%s at %d", strings.Join(words, " "), e.HappenedAt)
}

func TestSecurity(t *testing.T) {
	const owner = "ag_fox"
	key := func(epoch, at int64, original bool) tables.Item {
		return (&tables.AgentKey{Pub: "pub", Label: "words", Epoch: epoch, AddedAt: at, Original: original}).Item(owner)
	}
	token := (&tables.Token{ID: "tk_1", Label: "words", Epoch: 1, CreatedAt: 20, Scopes: tables.NewSet("read")}).Item(owner)
	link := (&tables.LinkCode{Hash: "secret", ID: "lc_1", Agent: owner, Uses: 2, Epoch: 1, CreatedAt: 30, Token: "tk_1"}).Item()
	used := maps.Clone(link)
	used["uses"] = int64(1)
	origin := func(at int64, signed bool) tables.Item {
		o := tables.Origin{Agent: owner, Person: "hash", VerifiedAt: at, Signed: signed}
		return o.Replace(&tables.Origin{}).Item
	}
	recovery := func(id, kind string, at int64) tables.Item {
		return (&tables.HistoryEntry{ID: id, Kind: kind, At: at}).Item(owner)
	}
	access := (&tables.Token{ID: "tk_2", Epoch: 1, CreatedAt: 21, Grant: "gr_1"}).Access(owner)
	grant := func(founded bool, generation int64) tables.Item {
		return (&tables.Grant{ID: "gr_1", Name: "their words", Epoch: 1, Generation: generation, CreatedAt: 22, Founded: founded}).Item(owner)
	}
	live := tables.LiveTokens(owner, nil, 1, 0).Add("tk_1", 0).Item
	at := then.UnixMilli()
	cases := []struct {
		name   string
		record tables.StreamRecord
		want   string
	}{
		{"the key of the registration", insert(key(1, 10, true)), ""},
		{"a key", insert(key(1, 11, false)), "change=key_added key=pub at 11"},
		{"a key changed in the same epoch", changed(key(1, 11, false), key(1, 11, true)), ""},
		{"a key removed", gone(key(1, 11, false), false), fmt.Sprintf("change=key_removed key=pub at %d", at)},
		{"a key added again", insert(key(1, 12, false)), "change=key_added key=pub at 12"},
		{"a key removed again", gone(key(1, 12, false), false), fmt.Sprintf("change=key_removed key=pub at %d", at)},
		{"a key in a new epoch", changed(key(1, 10, true), key(2, 13, true)), "change=key_added key=pub at 13"},
		{"a token", insert(token), "change=token_minted token=tk_1 at 20"},
		{"a token revoked", gone(token, false), fmt.Sprintf("change=token_revoked token=tk_1 at %d", at)},
		{"a token expired", gone(token, true), ""},
		{"the list of tokens", insert(live), ""},
		{"an access token", insert(access), ""},
		{"an access token revoked", gone(access, false), ""},
		{"a connection", insert(grant(false, 1)), "change=connected connection=gr_1 at 22"},
		{"a connection refreshed", changed(grant(false, 1), grant(false, 2)), ""},
		{"a connection expired", gone(grant(false, 2), true), ""},
		{"a connection ended", gone(grant(false, 2), false), fmt.Sprintf("change=disconnected connection=gr_1 at %d", at)},
		{"the connection that founded the agent", insert(grant(true, 1)), ""},
		{"a link code", insert(link), "change=link_code_minted link_code=lc_1 at 30"},
		{"a link code used", changed(link, used), ""},
		{"a link code expired", gone(link, true), ""},
		{"an origin", insert(origin(40, true)), "by=signature change=origin_verified at 40"},
		{"another origin", changed(origin(40, true), origin(41, false)), "by=token change=origin_verified at 41"},
		{"an origin changed, but not verified again", changed(origin(41, false), origin(41, true)), ""},
		{"an origin forgotten", gone(origin(41, false), false), fmt.Sprintf("change=origin_forgotten at %d", at)},
		{"a recovery", insert(recovery("ev_1", tables.HistoryRecovered, 50)), "change=recovered at 50"},
		{"another entry of the history", insert(recovery("ev_2", tables.HistoryChannelCreated, 51)), ""},
		{"a key's last use", insert(tables.MarkUsed(owner, "pub", then).Item), ""},
	}
	f, table := open(t)
	filters := New(&app.App{})
	var records []tables.StreamRecord
	var want []string
	for _, c := range cases {
		d, err := ofSecurity(c.record)
		ok := len(d) == 1
		switch {
		case err != nil || ok != (c.want != ""):
			t.Errorf("%s: got %v, error %v, want %q", c.name, d, err, c.want)
		case ok && (told(&d[0].event) != c.want || d[0].to != owner):
			t.Errorf("%s: got %q for %s, want %q for %s", c.name, told(&d[0].event), d[0].to, c.want, owner)
		}
		if c.want != "" {
			want = append(want, c.want)
		}
		if passes := filters.Match(c.record); c.want != "" && !passes {
			t.Errorf("filters on %s: got no match, want one", c.name)
		} else if passes {
			records = append(records, c.record)
		}
	}
	// The stream delivers records in parts and more than once.
	for _, batch := range [][]tables.StreamRecord{records[:3], records[2:9], records, records[:1], records[5:]} {
		if err := f.handle(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, e := range read(t, table, owner) {
		got = append(got, told(&e))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("inbox: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSecurityThroughLambda(t *testing.T) {
	token := (&tables.Token{ID: "tk_1", Epoch: 1, Hash: []byte("h"), Scopes: tables.NewSet("read")}).Item("ag_fox")
	sent := []tables.StreamRecord{insert(token), gone(token, true), gone(token, false)}
	got, err := stream.FromLambda(stream.ToLambda(sent))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, true} {
		if d, err := ofSecurity(got[i]); err != nil || (len(d) == 1) != want || want && d[0].to != "ag_fox" {
			t.Errorf("record %d: got %v, error %v, want an event = %t", i, d, err, want)
		}
	}
}
