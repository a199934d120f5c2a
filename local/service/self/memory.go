// Package self measures the process that it runs in.
package self

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
)

// Memory returns the resident bytes of this process, without pages of mapped files, which the
// system can take back. Without /proc, it returns the bytes that Go's runtime has obtained from the
// system.
func Memory() int64 {
	b, err := os.ReadFile("/proc/self/statm") // pages: size, resident, shared (those of files), …; see proc(5)
	if fields := bytes.Fields(b); err == nil && len(fields) > 2 {
		resident, err := strconv.ParseInt(string(fields[1]), 10, 64)
		shared, wrong := strconv.ParseInt(string(fields[2]), 10, 64)
		if err == nil && wrong == nil {
			return (resident - shared) * int64(os.Getpagesize())
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
