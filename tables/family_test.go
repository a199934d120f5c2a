package tables

import "testing"

func TestFamilies(t *testing.T) {
	f := Families("L A by_rank").And("C A")
	if f != "A C L by_rank" {
		t.Errorf("%q", f)
	}
	for pk, want := range map[string]bool{
		AgentPK("x"): true, ChannelPK("x"): true, LedgerPK("x"): true, MessagesPK("a", "b"): false, QuotaPK("x"): false, "AB#x": false, "": false,
	} {
		if f.Has(pk) != want {
			t.Errorf("%q is of %q: %v", pk, f, !want)
		}
	}
	if !f.HasIndex(ByRank) || f.HasIndex(ByParent) || Families("").Has("") || Families("").HasIndex("") {
		t.Error("indexes")
	}
}
