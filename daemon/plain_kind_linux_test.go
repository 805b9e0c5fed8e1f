// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// A plain socket is as a kernel's: it connects to a listener of the other kind, and one that listens is
// connected to by either kind.
//
// Mutation it catches: AnyKind is left out of connect, or of what listens.
//
// Proves: plain.connections
func TestPlainSocketsTakeEitherKind(t *testing.T) {
	b := newBed(t, daemon.Config{})
	for _, c := range []struct{ plain, other attach.Kind }{{attach.KindStream, attach.KindSeqPacket}, {attach.KindSeqPacket, attach.KindStream}} {
		l, err := b.peer.Listen(within(t), c.other.Network(), plainService)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.node.WaitFor(within(t), plainService); err != nil {
			t.Fatal(err)
		}
		p := b.plain(t, c.plain)
		h := serviceHeader(attach.OpPlainConnect)
		h.Arg0 = 1
		p.want(syscall.EINPROGRESS, h)
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		p.write("hello")
		got := make([]byte, 9)
		far.SetReadDeadline(time.Now().Add(testTimeout))
		if n, err := far.Read(got); err != nil || string(got[:n]) != "hello" {
			t.Errorf("%v to %v: read %q, %v", c.plain, c.other, got[:n], err)
		}
		far.Close()
		l.Close()
		server := b.plainListener(t, c.plain)
		if err := b.peer.WaitFor(within(t), plainService); err != nil {
			t.Fatal(err)
		}
		for _, network := range []string{"tipc", "tipcpacket"} {
			dialed := make(chan error, 1)
			go func() {
				far, err := b.peer.Dial(within(t), network, plainService)
				if err == nil {
					far.Close()
				}
				dialed <- err
			}()
			server.accept().close()
			if err := <-dialed; err != nil {
				t.Errorf("%s to a plain %v: %v", network, c.plain, err)
			}
		}
		server.close()
	}
}
