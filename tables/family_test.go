package tables

import "testing"

func TestFamilies(t *testing.T) {
	f := Ledgers | Agents | RankIndex | Channels
	if got, want := f.String(), "A C L by_rank"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for pk, want := range map[string]bool{
		AgentPK("x"): true, ChannelPK("x"): true, LedgerPK("x"): true, MessagesPK("a", "b"): false, QuotaPK("x"): false, "AB#x": false, "": false, "by_rank#x": false,
	} {
		if got := f.Has(pk); got != want {
			t.Errorf("%q is of %q: got %v, want %v", pk, f, got, want)
		}
	}
	if !f.HasIndex(ByRank) || f.HasIndex(ByParent) || Families(0).Has("") || Families(0).HasIndex("") {
		t.Error("indexes")
	}
	if all := Families(1<<len(familyNames) - 1); all != Agents|AuthorIndex|all || AuthorIndex<<1 != all+1 {
		t.Errorf("%d names for other families than there are: %s", len(familyNames), all)
	}
}
