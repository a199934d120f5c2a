package child

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel kill cmd when this process ends. cmd gets its own
// process group, so that a terminal's Ctrl-C reaches only the parent, which can finish
// its work first.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
