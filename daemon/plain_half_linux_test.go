// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"errors"
	"io"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// A program that knows nothing of half-closes, as no kernel has them, reads the end of what its peer sends and
// still writes, until the peer closes; then it is hung up, also when it writes nothing. Mutations it catches:
// readEnded ends the socket; it does not shut D down; it does not look when the connection ends.
//
// Proves: plain.connections
func TestPlainHalfClose(t *testing.T) {
	t.Parallel()
	for _, kind := range connectedKinds {
		t.Run(kind.String(), func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			s, c := b.accepted(t, b.plainListener(t, kind), kind)
			if _, err := c.Write([]byte("question")); err != nil {
				t.Fatal(err)
			}
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			s.reads("question")
			for range 2 {
				s.ends()
			}
			if r := s.state(); r.Arg0 != stateConnected {
				t.Errorf("in state %d, want connected", r.Arg0)
			}
			s.write("answer")
			buf := make([]byte, 10)
			if n, err := c.Read(buf); err != nil || string(buf[:n]) != "answer" {
				t.Errorf("%q, %v", buf[:n], err)
			}
			c.Close()
			s.await(unix.POLLHUP)
			if r := s.state(); r.Arg0 != stateEnded {
				t.Errorf("in state %d, want ended", r.Arg0)
			}
		})
		t.Run(kind.String()+", the program ends", func(t *testing.T) {
			b := newBed(t, daemon.Config{})
			s, c := b.accepted(t, b.plainListener(t, kind), kind)
			if err := c.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			s.ends()
			s.write("answer")
			s.want(0, attach.Header{Op: attach.OpPlainShutdown})
			unix.Shutdown(s.fd, unix.SHUT_RDWR)
			if got, err := readAll(c); string(got) != "answer" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
}

// States that a plain socket reports.
const (
	stateConnected = 3
	stateEnded     = 4
)

// Where the daemon has addresses of TCP no program binds the types that carry them, and without them every program may.
// Mutations it catches: one of the calls does not ask; Reserved knows one of the two types alone.
//
// Proves: tcp.source
func TestTCPReserved(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  daemon.Config
		want syscall.Errno
	}{{"with", daemon.Config{TCP: tcpOfBeds}, syscall.EACCES}, {"without", daemon.Config{}, 0}} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t, c.cfg)
			for i, typ := range []uint32{0x75740001, ownAddress, ownAddress + 1} {
				want := c.want
				if i == 2 { // another's address: its listeners are at that node
					want = 0
				}
				at := stack.Range{Type: typ, Lower: 80, Upper: 80}
				for _, kind := range []attach.Kind{attach.KindRDM, attach.KindSeqPacket} {
					p := b.plain(t, kind)
					p.want(want, attach.Header{Op: attach.OpPlainBind, Addr: attach.RangeSockaddr(at, 0)})
					p = b.plain(t, kind)
					p.want(want, attach.Header{Op: attach.OpPlainJoin, Addr: service(typ, 81)})
				}
				for kind, op := range map[attach.Kind]attach.Op{attach.KindRDM: attach.OpBind, attach.KindSeqPacket: attach.OpListen, attach.KindDatagram: attach.OpJoin} {
					p := b.program(t)
					p.socket(kind)
					if r := p.ask(attach.Header{Op: op, Addr: service(typ, 82)}, nil); r.Errno != want {
						t.Errorf("%v of type %#x: %v, want %v", op, typ, r.Errno, want)
					}
				}
			}
		})
	}
}
