// SPDX-License-Identifier: Apache-2.0

// Package cores says on which cores, and before whom, a process runs: what is measured has
// a core to itself. Linux only.
package cores

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// First returns the two lowest cores this process may run on.
func First() ([2]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return [2]int{}, os.NewSyscallError("sched_getaffinity", err)
	}
	var found []int
	for core := 0; core < 8192 && len(found) < 2; core++ {
		if set.IsSet(core) {
			found = append(found, core)
		}
	}
	if len(found) < 2 {
		return [2]int{}, fmt.Errorf("two cores are needed, this process may use %d", set.Count())
	}
	return [2]int(found), nil
}

// On runs start, which starts a child, on one core alone: the child inherits
// that, and its Go runtime counts one core from the beginning.
func On(core int, start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return os.NewSyscallError("sched_getaffinity", err)
	}
	only.Set(core)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return os.NewSyscallError("sched_setaffinity", err)
	}
	defer unix.SchedSetaffinity(0, &before)
	return start()
}

// Prefer gives a process that leads a session a priority. Where the kernel groups
// processes by session (sched_autogroup), theirs counts, else the process's own.
func Prefer(pid, nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, pid, nice); err != nil {
		return os.NewSyscallError("setpriority", err)
	}
	err := os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", pid), []byte(strconv.Itoa(nice)), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
