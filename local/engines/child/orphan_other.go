//go:build !linux

package child

import "os/exec"

// dieWithParent does nothing here: a parent that is killed leaves its children.
func dieWithParent(*exec.Cmd) {}
