package ports

import "testing"

// No two of many concurrent calls get the same port, although none listens yet.
func TestPortsAreGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range 300 {
		port, release, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if given[port] {
			t.Fatalf("%d is given twice", port)
		}
		given[port] = true
	}
}
