// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Where a port is that a program has at a node of its own, programs of this host and of others learn from the daemon that has
// the address, for as long as the socket is open. Of other ports there is no such node, and of an address that nobody has an error.
//
// Mutations it catches: locate notes nothing; whereTCP never asks another daemon; answer looks for another port; at returns the first
// socket's of any port.
//
// Proves: tcp.embedded
func TestTCPAt(t *testing.T) {
	network := hub.New(hub.Config{})
	a, b := withTCP(t, network, 1), withTCP(t, network, 2)
	by := Caller{Context: t.Context(), Enter: unlimited{}.Another}
	b.tcp.nodes.wait = time.Minute
	fd, own := a.tcpSocket(t, by)
	plain, other := a.listening(t, by)
	asks := [2]int{plain}
	asks[1], _ = b.tcpSocket(t, by)
	defer unix.Close(asks[1])
	ask := func(i int, of tcpwire.Addr) (frame.SocketAddr, error) {
		r := [...]*Sockets{a, b}[i].Serve(by, &attach.Header{Op: attach.OpPlainTCPAt, Addr: tcpSockaddr(of)}, nil, asks[i])
		at, _ := r.Addr2.Socket()
		return at, r.Err
	}
	expect := func(of tcpwire.Addr, want frame.SocketAddr) {
		t.Helper()
		for i := range asks {
			if got, err := ask(i, of); got != want || err != nil {
				t.Errorf("node %d: %v is at %v, %v, want %v", i, of, got, err, want)
			}
		}
	}
	expect(own, frame.SocketAddr{})
	at := frame.SocketAddr{Port: 77, Node: 0x1001009}
	if r := a.Serve(by, &attach.Header{Op: attach.OpPlainTCPAt, Addr2: attach.SocketSockaddr(at)}, nil, fd); r.Err != nil {
		t.Fatal(r.Err)
	}
	expect(own, at)
	expect(other, frame.SocketAddr{})
	a.tcp.mu.Lock()
	x := a.tcp.ports[own.Port][0]
	a.tcp.mu.Unlock()
	unix.Close(fd)
	<-x.over
	expect(own, frame.SocketAddr{})
	b.tcp.nodes.wait = time.Millisecond
	if _, err := ask(1, tcpwire.Addr{IP: own.IP + 7, Port: 1}); err != syscall.EHOSTUNREACH {
		t.Error(err)
	}
}
