// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/utipc/utipc/internal/must"
)

// A call that waits looks before it sleeps, in each way to wait, for as long as that pays: the test has a clock of its own, and
// counts what is asked of the kernel.
//
// Mutations it catches: a read, a poll, a select or an epoll sleeps at once; select looks at its own sets, which an empty
// look clears; a read of MSG_DONTWAIT, or a short poll, looks; looks in vain cost nothing; the pause between tries stays; what a try finds
// brings nothing back; a thread that was away does not rest; each rest is as long as the first.
//
// Proves: tcp.lane
func TestLane(t *testing.T) {
	for _, m := range Machines() {
		t.Run(m.Name, func(t *testing.T) {
			flags := append([]string{"-Wl,--wrap=syscall,--wrap=clock_gettime"}, must.Get(filepath.Glob("../../preload/*.c"))...)
			program := m.Compile(t, "lane.c", flags...)
			words := append(m.emulator[:len(m.emulator):len(m.emulator)], program)
			out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
			if err != nil || string(out) != "all is well\n" {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
