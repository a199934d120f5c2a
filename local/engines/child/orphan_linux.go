package child

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel kill cmd when this process ends. The process group of its own
// keeps a terminal's Ctrl-C away from cmd, so this process can finish its work first.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
