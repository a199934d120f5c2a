//go:build !unix

package bench

import "time"

// cpuTime returns the time of day, since the CPU time is not known here.
func cpuTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
