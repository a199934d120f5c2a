// Package self measures the process that it runs in.
package self

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
)

// Memory returns the bytes of this process that are in memory. Where the system does not
// tell, it returns those that Go's runtime has obtained.
func Memory() int64 {
	b, err := os.ReadFile("/proc/self/statm") // pages: size, resident, …; see proc(5)
	if fields := bytes.Fields(b); err == nil && len(fields) > 1 {
		if n, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
			return n * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
