package child

import (
	"os/exec"
	"syscall"
)

// dieWithParent lets the kernel kill cmd when this process ends. cmd gets a process group of
// its own, so a terminal's Ctrl-C does not reach it while this process finishes its work.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
