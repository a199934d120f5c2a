package service_test

import (
	"strings"
	"testing"
)

// The stand-ins give out secrets, so they refuse to listen on all interfaces.
func TestCloud_Address(t *testing.T) {
	r := run(t, unlimited())
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "localhost:0", ""} {
		if _, err := r.Cloud(address, r.URL); err == nil || !strings.Contains(err.Error(), "an address of this machine") {
			t.Errorf("Cloud(%q) = %v, want a refused address", address, err)
		}
	}
}
