package ports

import "testing"

// Nothing listens on the ports yet.
func TestPortsAreGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range 300 {
		port, release, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if given[port] {
			t.Fatalf("two calls got port %d", port)
		}
		given[port] = true
	}
}
