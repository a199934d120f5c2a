package child

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill cmd when this process is gone. A process
// group of its own keeps a terminal's ^C from it, so that the parent can finish
// its work first.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
