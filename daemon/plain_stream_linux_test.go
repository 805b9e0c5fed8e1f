// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"bytes"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
)

// A program on another node reads all of a stream of which the daemon found more than a message may
// have, and had room for no more. Mutation: send writes what TryWrite takes, and no more.
//
// Proves: plain.connections
func TestPlainLongStream(t *testing.T) {
	b := newBed(t, daemon.Config{})
	l, err := b.peer.Listen(within(t), attach.KindStream.Network(), plainService)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := b.node.WaitFor(within(t), plainService); err != nil {
		t.Fatal(err)
	}
	p := b.plain(t, attach.KindStream)
	h := serviceHeader(attach.OpPlainConnect)
	h.Arg0 = 1
	p.want(syscall.EINPROGRESS, h)
	sent := bytes.Repeat([]byte("0123456789"), attach.MaxData/10*3/2)
	p.write(string(sent)) // the daemon reads none of it before the connection is accepted
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.write("end")
	want := append(sent, "end"...)
	got := make([]byte, len(want))
	c.SetReadDeadline(time.Now().Add(testTimeout))
	if n, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("read %d of %d bytes, %v", n, len(want), err)
	}
}
