package ports

import "testing"

// The reservations must suffice, since nothing listens on the ports.
func TestPortsAreGivenOnce(t *testing.T) {
	given := map[int]bool{}
	for range 300 {
		port, release, err := Free()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if given[port] {
			t.Fatalf("port %d: got it from two calls, want it from one", port)
		}
		given[port] = true
	}
}
