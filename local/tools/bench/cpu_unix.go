//go:build unix

package bench

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time, user's and system's, that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // RUSAGE_SELF is always known
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
