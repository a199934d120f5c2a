// Package child runs processes that end when this one does. On Linux they end however
// this one ends.
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
