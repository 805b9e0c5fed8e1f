// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/test/tier"
)

// One netlink socket has the family TIPCv2 from the daemon and all others from the kernel: answers
// and lists of both, options, errors as they are asked for, reads of all kinds, and in children.
//
// Mutations it catches: for_family takes all of the family of families; names_family without bounds;
// netlink_kernel for no option; netlinkState that applies nothing; ackOptions that sets nothing;
// look_at_inherited without netlink_used; readKernel with room for 64 bytes.
//
// Proves: plain.netlink
func TestNetlink(t *testing.T) {
	program := Here.Compile(t, "netlink.c")
	if out := newBed(t).Run(t, program); out != "all is well\n" {
		t.Error(out)
	}
}

// The stock tool gives the daemon's node keys, and takes them; as another user it shows, and changes
// nothing. What it does on a kernel too, test/interop compares.
//
// Mutation it catches: setKey that ignores whose key it is, or that flushes nothing.
//
// Proves: plain.netlink
func TestStockTool(t *testing.T) {
	NeedCompiler(t)
	tool, err := exec.LookPath("tipc")
	if err != nil {
		tier.Missing(t, "there is no tipc(8): install iproute2")
	}
	b := newBed(t)
	encryption := func() (keys int, master bool) {
		e, err := b.srv.Node().Admin().Encryption(within(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, slot := range e.Slots[1:] {
			if slot.Bits > 0 {
				keys++
			}
		}
		return keys, e.Slots[0].Bits > 0
	}
	b.Run(t, tool, "node", "set", "key", "0x3031323334353637383961626364656673616c74")
	if n, master := encryption(); n != 1 || master {
		t.Errorf("a key: %d keys, master %v", n, master)
	}
	b.Run(t, tool, "node", "set", "key", "0123456789abcdefsalt", "master")
	if _, master := encryption(); !master {
		t.Error("there is no master key")
	}
	b.Run(t, tool, "node", "set", "key", "rekeying", "10")
	b.Run(t, tool, "node", "flush", "key")
	if n, master := encryption(); n != 0 || master {
		t.Errorf("flushed: %d keys, master %v", n, master)
	}

	if os.Geteuid() != 0 {
		tier.Missing(t, "it takes root to be somebody else")
	}
	const nobody = 65534
	lib, err := library()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(built, 0o755); err != nil { // it is to be found by others
		t.Fatal(err)
	}
	name := "@utipc-test-" + filepath.Base(built)
	l, err := attach.Listen(name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	go b.srv.Serve(l)
	for _, x := range []struct {
		words string
		want  string
		fails bool
	}{
		{"media list", "eth\nudp\n", false},
		{"node get netid", "4711\n", false},
		{"link monitor set threshold 20", "kernel answers: Operation not permitted\n", true},
		{"bearer disable media eth device eth0", "kernel answers: Operation not permitted\n", true},
		{"node flush key", "kernel answers: Operation not permitted\n", true},
	} {
		cmd := exec.CommandContext(within(t), tool, strings.Fields(x.words)...)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib, "UTIPC_SOCKET="+name)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if string(out) != x.want || (err != nil) != x.fails {
			t.Errorf("%s: got %q, %v, want %q", x.words, out, err, x.want)
		}
	}
}
