package main

import "testing"

func TestEachDefectHasItsPlace(t *testing.T) {
	if _, err := plant("../../../..", t.TempDir(), defects); err != nil {
		t.Error(err)
	}
	if len(defects) < 20 {
		t.Errorf("got %d defects, want at least 20", len(defects))
	}
}
