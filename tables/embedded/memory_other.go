//go:build !linux

package embedded

import "os"

// openMemory makes the file of a table in memory: a temporary one that loses
// its name at once, so that nothing is left behind however the process ends.
func openMemory(string, int, os.FileMode) (*os.File, error) {
	f, err := os.CreateTemp("", "agentsocial-*")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
