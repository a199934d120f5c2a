package tables

import (
	"slices"
	"testing"
)

func TestFamilies(t *testing.T) {
	f := Ledgers | Agents | RankIndex | Channels
	if got, want := f.String(), "A C L by_rank"; got != want {
		t.Errorf("String: got %q, want %q", got, want)
	}
	if got := f.Letters(); !slices.Equal(got, []string{"A", "C", "L"}) {
		t.Errorf("Letters: got %q, want A, C and L", got)
	}
	for pk, want := range map[string]bool{
		AgentPK("x"): true, ChannelPK("x"): true, LedgerPK("x"): true, MessagesPK("a", "b"): false, QuotaPK("x"): false, "AB#x": false, "": false, "by_rank#x": false,
	} {
		if got := f.Has(pk); got != want {
			t.Errorf("%q.Has(%q) = %v, want %v", f, pk, got, want)
		}
	}
	if !f.HasIndex(ByRank) || f.HasIndex(ByParent) || Families(0).Has("") || Families(0).HasIndex("") {
		t.Errorf("%q: got HasIndex(by_rank) = %t, HasIndex(by_parent) = %t, want true, false, and nothing in the empty set", f, f.HasIndex(ByRank), f.HasIndex(ByParent))
	}
	if all := Families(1<<len(familyNames) - 1); all != Agents|AuthorIndex|all || AuthorIndex<<1 != all+1 {
		t.Errorf("got %d names, %s; want one for each family", len(familyNames), all)
	}
}
