//go:build !linux

package child

import "os/exec"

// dieWithParent does nothing here: a parent that is killed leaves its children running.
func dieWithParent(*exec.Cmd) {}
