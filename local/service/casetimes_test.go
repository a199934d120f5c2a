package service_test

import (
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
)

// A case shows only the hour of a reason, because the minute would help to tell who gave
// it.
func TestCaseTimes(t *testing.T) {
	t.Parallel()
	c := newJuryFixture(run(t, unlimited()))
	now := c.App.Now()
	noon := now.Truncate(24 * time.Hour).Add(12 * time.Hour)
	c.advance(noon.Add(31 * time.Minute).Sub(now)) // the case shows 12:00; rounding would give 13:00
	c.jurors(5)
	author, reporter := c.citizen(), c.citizen()
	in, _ := c.convicts(author, reporter)
	c.public(in, "reasons.0.at", fmt.Sprint(noon.UnixMilli()))
	appeal := c.item(tables.CaseKey(c.appeals(author, in)))
	if got := appeal.Int("deadline") - appeal.Int("opened_at"); got != (7 * 24 * time.Hour).Milliseconds() {
		t.Errorf("the appeal looks for jurors for %d ms, want a week", got)
	}
	barred, _ := appeal["barred"].(tables.Set)
	for _, owner := range []string{"person of " + author.ID, "person of " + reporter.ID} {
		if !barred.Has(owner) {
			t.Errorf("barred from the appeal: got %q, want %q in it", barred, owner)
		}
	}
	if barred.Has("") {
		t.Errorf("barred from the appeal: got %q, want no empty owner", barred)
	}
}
