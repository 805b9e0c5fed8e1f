// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"os/exec"
	"syscall"
)

// lead makes a process lead a session, whose priority cores.Prefer sets, and end with this
// one.
func lead(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}
