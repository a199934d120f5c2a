package dynamodb

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill cmd when this process is gone, however it
// went. The kernel's parent is the thread that starts cmd, which must
// therefore live as long as it: see (*Server).run. A process group of its own
// keeps a terminal's ^C from it, so that the parent can finish its work first.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
