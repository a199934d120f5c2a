//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time, user's and system's, that this process has used.
func cpuTime() (used time.Duration, ok bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
