// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
)

// What requests for sockets of TCP have, see daemon/plain.
const (
	kindTCP     = 6
	ownAddress  = 10<<24 | 99<<16 | 1
	fuzzedPorts = 4
)

var tcpOfBeds = plain.TCP{Prefix: netip.MustParsePrefix("10.99.0.0/16"), Address: netip.MustParseAddr("10.99.0.1")}

// tcpSocket asks for a socket of TCP with a port of the daemon's choice.
func (b *bed) tcpSocket(t testing.TB) (errno syscall.Errno, fd int, at attach.Sockaddr) {
	t.Helper()
	h := attach.Header{Op: attach.OpPlainTCPSocket, Arg0: kindTCP, Addr: attach.ServiceSockaddr(frame.Service{Type: ownAddress}, 0)}
	r, _, fd := b.plainAsk(t, h, nil, -1)
	return syscall.Errno(r.Errno), fd, r.Addr
}

// A program has as many TCP sockets as it may have connections, and listens on as many as it may have names. What it closes
// it may have again.
//
// Mutations it catches: openTCP counts no socket; a port that is taken keeps what was counted; listen counts no name; end gives no name
// back; leave gives back no socket.
func TestTCPLimits(t *testing.T) {
	const most, names = 5, 2
	// The request itself has a connection.
	b := newBed(t, daemon.Config{TCP: tcpOfBeds, Quotas: daemon.Quotas{Process: daemon.Limits{Connections: most + 1, Names: names}}})
	// alone waits until the connection of the last request is gone, which counted as well.
	alone := func(sockets int) {
		waitFor(t, func() bool { return b.srv.Counters().Connections == sockets })
	}
	for range 2 {
		var fds []int
		var taken attach.Sockaddr // an address that one of them has
		for {
			alone(len(fds))
			errno, fd, at := b.tcpSocket(t)
			if errno != 0 {
				if errno != syscall.EMFILE {
					t.Error(errno)
				}
				break
			}
			fds, taken = append(fds, fd), at
		}
		if len(fds) != most {
			t.Errorf("%d sockets, want %d", len(fds), most)
		}
		for i, fd := range fds {
			want := syscall.Errno(0)
			if i >= names {
				want = syscall.ENOBUFS
			}
			alone(most)
			if r, _, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainListen, Arg0: 1}, nil, fd); syscall.Errno(r.Errno) != want {
				t.Errorf("listener %d: %v, want %v", i, syscall.Errno(r.Errno), want)
			}
		}
		unix.Close(fds[0]) // so that there is room for what is refused
		fds = fds[1:]
		other := attach.ServiceSockaddr(frame.Service{Type: ownAddress + 1}, 0)
		for range 2 * most {
			for addr, want := range map[attach.Sockaddr]syscall.Errno{other: syscall.EADDRNOTAVAIL, taken: syscall.EADDRINUSE} {
				alone(most - 1)
				if r, _, _ := b.plainAsk(t, attach.Header{Op: attach.OpPlainTCPSocket, Arg0: kindTCP, Addr: addr}, nil, -1); r.Errno != want {
					t.Errorf("%v: %v, want %v", &addr, r.Errno, want)
				}
			}
		}
		for _, fd := range fds {
			unix.Close(fd)
		}
		waitFor(t, func() bool { c := b.srv.Counters(); return c.Connections == 0 && c.Names == 0 })
	}
}

// Whatever programs ask of TCP sockets, and of descriptors that are none, the daemon neither panics nor hangs nor keeps
// anything.
func FuzzTCP(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 1, 2, 0, 0, 3, 0, 0})
	f.Add([]byte{0, 6, 1, 1, 0, 0, 0, 6, 0, 2, 1, 1, 3, 1, 0, 4, 1, 0, 5, 2, 0})
	f.Add([]byte{0, 6, 1, 2, 4, 3, 0, 7, 4, 1, 3, 2, 2, 0, 9, 6, 9, 1})
	b := newBed(f, daemon.Config{TCP: tcpOfBeds, Quotas: daemon.Quotas{Process: daemon.Limits{Connections: 20, Names: 5}}})
	base := runtime.NumGoroutine()
	ops := []attach.Op{
		attach.OpPlainTCPSocket, attach.OpPlainListen, attach.OpPlainConnect, attach.OpPlainState, attach.OpPlainShutdown,
		attach.OpPlainClosed, attach.OpPlainBind, attach.OpPlainTCP, attach.OpPlainAccept, attach.OpPlainSend,
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		l := must.Get(unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))
		if err := unix.Listen(l, 1); err != nil {
			t.Fatal(err)
		}
		null := must.Get(unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0))
		pair := must.Get(unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))
		fds := []int{-1, l, null, pair[0], pair[1]}
		for len(in) >= 3 {
			op, x, y := ops[int(in[0])%len(ops)], in[1], in[2]
			in = in[3:]
			h := attach.Header{Op: op, Arg0: uint32(x) % 8, Arg1: uint32(y), Wide: uint64(x) << (y % 64)}
			h.Addr = attach.ServiceSockaddr(frame.Service{Type: ownAddress + uint32(x/8%2), Instance: 5000 + uint32(y%fuzzedPorts)}, 0)
			switch {
			case op == attach.OpPlainTCPSocket:
				h.Arg0 |= uint32(y) << 8
			case op == attach.OpPlainConnect:
				h.Arg0 |= 1 // it does not wait
			}
			if x%16 == 15 {
				h.Addr = attach.Sockaddr{Family: uint16(x), Type: y, Scope: int8(x), A: uint32(y)}
			}
			if _, _, fd := b.plainAsk(t, h, nil, fds[int(y/4)%len(fds)]); fd >= 0 {
				fds = append(fds, fd)
			}
		}
		for _, fd := range fds[1:] {
			unix.Close(fd)
		}
		waitFor(t, func() bool { c := b.srv.Counters(); return c.Connections == 0 && c.Names == 0 && c.TCPWaiting == 0 })
		waitFor(t, func() bool { return runtime.NumGoroutine() <= base+20 })
	})
}
