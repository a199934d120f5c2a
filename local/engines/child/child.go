// Package child runs processes that end when this one does, however it ends.
package child

import (
	"os/exec"
	"runtime"
)

// Run starts a command and waits for its end. On Linux the kernel kills it when
// this process is gone; elsewhere only whoever ends cmd does. Its parent, to the
// kernel, is the thread that starts it: both happen on one that does nothing else.
func Run(cmd *exec.Cmd) error {
	dieWithParent(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
