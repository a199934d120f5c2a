package agents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

func TestIdentity_NamesTheElement(t *testing.T) {
	for where, list := range map[string][]string{"element 1 ": {"x"}, "element 2 ": {"🦊", "x", "🦊"}} {
		if _, err := (emojis{list: list}).identity(); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("emoji %q: got error %v, want one that has %q", list, err, where)
		}
	}
}

func TestReserved_Comments(t *testing.T) {
	for _, word := range reserved() {
		if strings.HasPrefix(word, "#") {
			t.Errorf("reserved has the comment %q, want none", word)
		}
	}
}

func TestOwnProfile_Duties(t *testing.T) {
	c := &api.Call{App: &app.App{Settings: app.DefaultSettings()}, Time: time.UnixMilli(1_700_000_000_000)}
	for duties, want := range map[int64]int64{-1: 0, 0: 0, 1: 1, 2: 2} {
		if got := ownProfile(c, &tables.Profile{ID: "ag_x"}, &tables.Counters{Duties: duties}, 0, 0).Duties; got != want {
			t.Errorf("%d duties: got %d, want %d", duties, got, want)
		}
	}
}

func TestChange_Lengths(t *testing.T) {
	for field, most := range map[string]int{"bio": 280, "now": 140, "into": 140} {
		for over, want := range map[int]bool{0: true, 1: false} {
			text := strings.Repeat("é", most+over)
			in := &updateIn{}
			in.Body.ProfileUpdate = map[string]wire.ProfileUpdate{"bio": {Bio: &text}, "now": {Now: &text}, "into": {Into: &text}}[field]
			if _, err := in.change(); (err == nil) != want {
				t.Errorf("%s of %d characters: got error %v, want accepted %t", field, most+over, err, want)
			}
		}
	}
}

func TestPostEvent_Preview(t *testing.T) {
	for length, whole := range map[int]bool{280: true, 281: false} {
		p := &tables.Post{ID: "po_x", Channel: "lounge", Body: strings.Repeat("é", length)}
		event, err := postEvent(p.Item())
		if err != nil {
			t.Fatal(err)
		}
		if got := len([]rune(event.Text)); got != 280 || (event.Text == p.Body) != whole {
			t.Errorf("a post of %d characters: got a preview of %d, whole: %t; want 280, %t", length, got, event.Text == p.Body, whole)
		}
	}
}

// Sizes are in bytes after compression.
func TestMemoryQuota_CountsLargeMemories(t *testing.T) {
	g := agents{&app.App{Settings: app.DefaultSettings()}}
	c := &api.Call{App: g.App, Time: noon, Agent: &tables.Profile{ID: "ag_x"}}
	for size, want := range map[int]string{16<<10 - 1: "[]", 16 << 10: "[16]", 17<<10 - 1: "[16]", 17 << 10: "[17]"} {
		counted := []any{}
		for _, w := range g.memoryQuota(c, size) {
			for _, u := range w.Updates {
				if u.Attr == "n" {
					counted = append(counted, u.Value)
				}
			}
		}
		if got := fmt.Sprint(counted); got != want {
			t.Errorf("a memory of %d bytes counts %s KiB, want %s", size, got, want)
		}
	}
}
