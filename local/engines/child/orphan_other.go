//go:build !linux

package child

import "os/exec"

// dieWithParent does nothing, so a killed parent leaves its children running.
func dieWithParent(*exec.Cmd) {}
