// Package child runs processes that end with this one: on Linux always, elsewhere only if
// this process stops them before it ends.
package child

import (
	"os/exec"
	"runtime"
)

// Run starts a command and waits for its end. On Linux the kernel kills it when this
// process ends. For the kernel, the command's parent is the thread that started it, so Run
// keeps that thread until the command ends.
func Run(cmd *exec.Cmd) error {
	dieWithParent(cmd)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return cmd.Run()
}
