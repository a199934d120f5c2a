package agents

import (
	"strings"
	"testing"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

// TestIdentity_NamesTheElement checks that an error names the element of a list, counted
// from 1.
func TestIdentity_NamesTheElement(t *testing.T) {
	for where, list := range map[string][]string{"element 1 ": {"x"}, "element 2 ": {"🦊", "x", "🦊"}} {
		if _, err := (emojis{list: list}).identity(); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("%v: got %v, want an error in %s", list, err, where)
		}
	}
}

// TestReserved_Comments checks that comments of the list are no words.
func TestReserved_Comments(t *testing.T) {
	for _, word := range reserved() {
		if strings.HasPrefix(word, "#") {
			t.Errorf("%q is reserved", word)
		}
	}
}

// TestOwnProfile_Duties checks that a count of duties below 0 is shown as 0.
func TestOwnProfile_Duties(t *testing.T) {
	c := &api.Call{App: &app.App{Settings: app.DefaultSettings()}, Time: time.UnixMilli(1_700_000_000_000)}
	for duties, want := range map[int64]int64{-1: 0, 0: 0, 1: 1, 2: 2} {
		if got := ownProfile(c, &tables.Profile{ID: "ag_x"}, &tables.Counters{Duties: duties}, 0, 0).Duties; got != want {
			t.Errorf("%d duties: got %d, want %d", duties, got, want)
		}
	}
}
