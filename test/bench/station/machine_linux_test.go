// SPDX-License-Identifier: Apache-2.0

package station

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// What a process has started is found, and its time counts when it has ended.
//
// Proves: bench.loads
func TestChildren(t *testing.T) {
	cmd := exec.Command("sh", "-c", "read line; i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	self := os.Getpid()
	if got := children([]int{self}); !slices.Contains(got, cmd.Process.Pid) {
		t.Errorf("got %v, want %d among them", got, cmd.Process.Pid)
	}
	if got := children([]int{cmd.Process.Pid}); len(got) > 0 {
		t.Errorf("of the child: got %v, want none", got)
	}
	before := processTime(self)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	used := cmd.ProcessState.SystemTime() + cmd.ProcessState.UserTime()
	if got := processTime(self) - before; got < used-2*tick {
		t.Errorf("got %v more, want the child's %v", got, used)
	}
	if got := processTime(cmd.Process.Pid); got != 0 {
		t.Errorf("of a process that is gone: got %v", got)
	}
}
