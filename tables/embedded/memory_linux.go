package embedded

import (
	"os"

	"golang.org/x/sys/unix"
)

// openMemory makes the file of a table in memory: one that never had a name,
// so that nothing is left behind however the process ends.
func openMemory(name string, _ int, _ os.FileMode) (*os.File, error) {
	fd, err := unix.MemfdCreate("agentsocial", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
