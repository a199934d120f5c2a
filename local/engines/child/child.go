// Package child runs processes that end when this one does, however it ends.
package child

import (
	"os/exec"
	"runtime"
)

// Run starts a command and waits for its end. On Linux the kernel kills it when this
// process ends. To the kernel the parent is the starting thread, so Run locks one for
// the command's life.
func Run(cmd *exec.Cmd) error {
	dieWithParent(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
