package main

import "testing"

// Each defect is still a change of one place.
func TestPlant(t *testing.T) {
	if _, err := plant("../../../..", t.TempDir(), defects); err != nil {
		t.Error(err)
	}
	if len(defects) < 20 {
		t.Errorf("%d defects, want at least 20", len(defects))
	}
}
