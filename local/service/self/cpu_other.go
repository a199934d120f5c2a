//go:build !unix

package self

import "time"

// CPU returns the time of day, since the CPU time is not known here.
func CPU() time.Duration { return time.Duration(time.Now().UnixNano()) }
