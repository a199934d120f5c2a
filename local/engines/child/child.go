// Package child runs processes that end with this one. Outside Linux, this process must stop
// them before it ends.
package child

import (
	"os/exec"
	"runtime"
)

// Run runs a command until its end. On Linux the kernel kills the command when the thread
// that started it ends, so Run keeps its thread.
func Run(cmd *exec.Cmd) error {
	dieWithParent(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
