package ports

import "testing"

// Of servers that start at once no two are given one port, though none listens yet:
// by chance alone some of so many would be.
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
