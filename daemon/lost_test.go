// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"syscall"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// A program that is told of a lost name is told how often the socket's names were changed before; so is
// one whose request to accept fails for that.
//
// Mutations it catches: what fails counts; unbind does not count; the number is left out of OpLost, or of the answer
// to OpAccept.
func TestLostNamesAreNumbered(t *testing.T) {
	b := newBed(t, daemon.Config{})
	for _, kind := range []attach.Kind{attach.KindRDM, attach.KindSeqPacket} {
		p := b.program(t)
		p.must(attach.Header{Op: attach.OpSocket, Arg0: uint32(kind)}, attach.AppendOption(nil, attach.OptExclusive, 1))
		p.bind(100, 1)
		p.fails(syscall.EADDRNOTAVAIL, attach.Header{Op: attach.OpUnbind, Addr: service(100, 2)}, nil)
		p.bind(100, 2)
		p.must(attach.Header{Op: attach.OpUnbind, Addr: service(100, 2)}, nil)
		p.call("socket.settle-names", nil)
		other, err := b.node.ListenPacket(within(t), "tipcrdm", stack.Service{Type: 100, Instance: 1})
		if err != nil {
			t.Fatal(err)
		}
		var r record
		if kind == attach.KindRDM {
			if r = p.read(); r.Op != attach.OpLost {
				t.Fatalf("got %v", r.Op)
			}
		} else {
			r = p.ask(attach.Header{Op: attach.OpAccept}, nil)
		}
		if r.Errno != syscall.EADDRINUSE || r.Arg0 != 4 {
			t.Errorf("%v: got %v, number %d, want 4", kind, r.Errno, r.Arg0)
		}
		other.Close()
		p.c.Close()
	}
}
