//go:build unix

package self

import (
	"syscall"
	"time"
)

// CPU returns the CPU time that this process has used, in user and system mode.
func CPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF is always known
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
