// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// compile makes a program of a file of testdata.
func compile(t *testing.T, source string) string {
	t.Helper()
	needCompiler(t)
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command("cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/"+source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// One netlink socket has the family TIPCv2 from the daemon and all others from the kernel: answers
// and lists of both, options, errors as they are asked for, reads of all kinds, and in children.
//
// Mutations it catches: for_family takes all of the family of families; names_family without bounds;
// netlink_kernel for no option; netlinkState that applies nothing; ackOptions that sets nothing;
// look_at_inherited without netlink_used; kernelRoom of a byte without the second look.
//
// Proves: plain.netlink
func TestNetlink(t *testing.T) {
	program := compile(t, "netlink.c")
	if out := newBed(t).run(t, program); out != "all is well\n" {
		t.Error(out)
	}
}
