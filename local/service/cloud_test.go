package service_test

import (
	"strings"
	"testing"
)

func TestCloud_Address(t *testing.T) {
	r := run(t, unlimited())
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "localhost:0", ""} {
		if _, err := r.Cloud(address, r.URL); err == nil || !strings.Contains(err.Error(), "the IP of one interface") {
			t.Errorf("Cloud(%q): got error %v, want one with \"the IP of one interface\"", address, err)
		}
	}
}
