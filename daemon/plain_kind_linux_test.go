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
	for _, c := range []struct{ plain, listener attach.Kind }{{attach.KindStream, attach.KindSeqPacket}, {attach.KindSeqPacket, attach.KindStream}} {
		l, err := b.peer.Listen(within(t), c.listener.Network(), plainService)
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
		other, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		p.write("hello")
		got := make([]byte, 9)
		other.SetReadDeadline(time.Now().Add(testTimeout))
		if n, err := other.Read(got); err != nil || string(got[:n]) != "hello" {
			t.Errorf("%v to %v: read %q, %v", c.plain, c.listener, got[:n], err)
		}
		other.Close()
		l.Close()
		server := b.plainListener(t, c.plain)
		if err := b.peer.WaitFor(within(t), plainService); err != nil {
			t.Fatal(err)
		}
		for _, network := range []string{"tipc", "tipcpacket"} {
			dialed := make(chan error, 1)
			go func() {
				other, err := b.peer.Dial(within(t), network, plainService)
				if err == nil {
					other.Close()
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
