// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// counted is an Owner that counts its sockets.
type counted struct {
	unlimited
	n *atomic.Int64
}

func (c counted) Another() (Owner, error) {
	c.n.Add(1)
	return c, nil
}

func (c counted) Leave() { c.n.Add(-1) }

// withTCP makes Sockets of node k of a network, with the address 10.99.0.k.
func withTCP(t *testing.T, network *hub.Hub, k byte) *Sockets {
	t.Helper()
	port, err := network.Port("eth0", frame.MAC{2, 0, 0, 0, 0, k})
	if err != nil {
		t.Fatal(err)
	}
	n, err := stack.Open(t.Context(), stack.Config{Address: 0x1001000 + stack.NodeAddr(k), Bearers: []stack.Bearer{port}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close(context.Background()) })
	s, err := New(n, TCP{netip.MustParsePrefix("10.99.0.0/16"), netip.AddrFrom4([4]byte{10, 99, 0, k})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

const anyPort = 0

// tcp makes a socket of a program, whose read waits a minute at most.
func (s *Sockets) tcpSocket(t *testing.T, by Caller) (fd int, at tcpwire.Addr) {
	t.Helper()
	a := s.Serve(by, &attach.Header{Op: attach.OpPlainTCPSocket, Arg0: uint32(kindTCP), Addr: tcpSockaddr(tcpwire.Addr{IP: s.tcp.ip, Port: anyPort})}, nil, -1)
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	at, _ = tcpAddrOf(a.Addr)
	_ = unix.SetsockoptTimeval(a.FD, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60})
	return a.FD, at
}

// listening makes one that listens.
func (s *Sockets) listening(t *testing.T, by Caller) (fd int, at tcpwire.Addr) {
	t.Helper()
	fd, at = s.tcpSocket(t, by)
	t.Cleanup(func() { unix.Close(fd) })
	if a := s.Serve(by, &attach.Header{Op: attach.OpPlainListen}, nil, fd); a.Err != nil {
		t.Fatal(a.Err)
	}
	return fd, at
}

// connectTCP asks for a connection. With noWait it fills fd before, as a program's library does.
func (s *Sockets) connectTCP(by Caller, fd int, to tcpwire.Addr, noWait bool) error {
	h := &attach.Header{Op: attach.OpPlainConnect, Addr: tcpSockaddr(to)}
	if noWait {
		h.Arg0 = connectNoWait
		h.Arg1 = fill(fd)
	}
	return s.Serve(by, h, nil, fd).Err
}

// fill writes until fd is not writable, and returns how many bytes.
func fill(fd int) (all uint32) {
	b := make([]byte, 4096)
	for {
		n, err := unix.SendmsgN(fd, b, nil, nil, unix.MSG_DONTWAIT)
		if err != nil {
			return all
		}
		all += uint32(n)
	}
}

func (s *Sockets) state(by Caller, fd int) (state, errno uint32) {
	a := s.Serve(by, &attach.Header{Op: attach.OpPlainState}, nil, fd)
	return a.Arg0, a.Arg1
}

// take takes a descriptor that a listener has.
func take(t *testing.T, l int) (fd int) {
	t.Helper()
	var b [1]byte
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(l, b[:], oob, 0)
	for err == unix.EINTR {
		_, n, _, _, err = unix.Recvmsg(l, b[:], oob, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(msgs) != 1 {
		t.Fatal(msgs, err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		t.Fatal(err)
	}
	return fds[0]
}

// until waits for what takes place in other goroutines.
func until(t *testing.T, what func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !what(); runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatal("it does not come about")
		}
	}
}

// Connections of this node that a listener has no room for wait until there is some: each counts for who connects,
// and the program that closes its socket gives it up.
//
// Mutations it catches: handOver waits for no room; it gives the socket back to its account before there is room; hasRoom
// finds room always; a connection that waits does so when its program has closed it.
//
// Proves: tcp.backlog
func TestTCPBacklogHolds(t *testing.T) {
	s := withTCP(t, hub.New(hub.Config{}), 1)
	held := new(atomic.Int64)
	by := Caller{Context: t.Context(), Enter: counted{n: held}.Another}
	l, at := s.listening(t, Caller{Context: t.Context(), Enter: unlimited{}.Another})
	x := s.tcp.listener(at.Port)
	const all = 32
	fds := make([]int, all)
	for i := range fds {
		fds[i], _ = s.tcpSocket(t, by)
		defer unix.Close(fds[i])
		if err := s.connectTCP(by, fds[i], at, true); err != syscall.EINPROGRESS {
			t.Fatal(err)
		}
	}
	connected, waits := 0, -1
	until(t, func() bool {
		connected = 0
		for i, fd := range fds {
			switch state, errno := s.state(by, fd); state {
			case stateConnected:
				connected++
			case stateConnecting:
				waits = i
			default:
				t.Fatal(state, errno)
			}
		}
		return !x.roomForOne() && connected+s.TCPCounters().Waiting == all && held.Load() == int64(all-connected)
	})
	if connected < 1 || connected > 16 {
		t.Fatalf("%d are connected whom nobody has accepted, of a backlog of 0", connected)
	}
	other, err := unix.FcntlInt(uintptr(l), unix.F_DUPFD_CLOEXEC, 0) // takes the place of the closed one's
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(fds[waits])
	fds[waits] = other
	until(t, func() bool {
		return s.TCPCounters().Waiting == all-connected-1 && held.Load() == int64(all-connected-1)
	})
	for range all - 1 {
		unix.Close(take(t, l))
	}
	until(t, func() bool { return held.Load() == 0 })
	if got := s.TCPCounters().Direct; got != all-1 {
		t.Errorf("%d were connected, want %d", got, all-1)
	}
}

// roomForOne reports whether a listener has room for a descriptor.
func (x *tcpSocket) roomForOne() (room bool) {
	_ = x.d.control(func(d int) error {
		room = hasRoom(d)
		return nil
	})
	return room
}

// full gives a listener descriptors until there is no room.
func (s *Sockets) full(t *testing.T, at tcpwire.Addr) {
	t.Helper()
	x := s.tcp.listener(at.Port)
	for x.roomForOne() {
		fd, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		x.put(fd)
	}
}

// A connection that finds no room in all its time is ETIMEDOUT.
//
// Mutations it catches: reserve knows no limit, or says that the listener is gone.
func TestTCPBacklogLimit(t *testing.T) {
	s := withTCP(t, hub.New(hub.Config{}), 1)
	s.tcp.limit = time.Millisecond
	by := Caller{Context: t.Context(), Enter: unlimited{}.Another}
	_, at := s.listening(t, by)
	s.full(t, at)
	fd, _ := s.tcpSocket(t, by)
	defer unix.Close(fd)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	by.Context = ctx
	if err := s.connectTCP(by, fd, at, false); err != syscall.ETIMEDOUT {
		t.Error(err)
	}
}

// A connection that waits for room at a listener that is closed meanwhile is refused, also when it waits for its turn.
//
// Mutation it catches: reserve says that it is over in another way.
func TestTCPBacklogEnds(t *testing.T) {
	s := withTCP(t, hub.New(hub.Config{}), 1)
	by := Caller{Context: t.Context(), Enter: unlimited{}.Another}
	l, at := s.listening(t, by)
	s.full(t, at)
	ended := make(chan error)
	for i := range 2 {
		fd, _ := s.tcpSocket(t, by)
		defer unix.Close(fd)
		go func() { ended <- s.connectTCP(by, fd, at, false) }()
		until(t, func() bool { return s.TCPCounters().Waiting == i+1 })
	}
	if err := unix.Shutdown(l, unix.SHUT_RDWR); err != nil { // the test closes it
		t.Fatal(err)
	}
	for range 2 {
		if err := <-ended; err != syscall.ECONNREFUSED {
			t.Error(err)
		}
	}
}

// What a connection to another node that failed is for a program of TCP.
//
// Mutation it catches: a listener whose backlog was full all the time has refused.
func TestTCPRefusal(t *testing.T) {
	for _, c := range []struct {
		err  error
		want error
	}{
		{&stack.ConnError{Code: frame.NoPort, Err: syscall.ECONNREFUSED}, syscall.ECONNREFUSED},
		{&stack.ConnError{Code: frame.NoNode, Err: stack.ErrUnreachable}, syscall.EHOSTUNREACH},
		{&stack.ConnError{Code: frame.Overload, Err: syscall.ECONNREFUSED}, syscall.ETIMEDOUT},
		{&stack.ConnError{Err: syscall.ETIMEDOUT}, syscall.ETIMEDOUT},
		{fmt.Errorf("dial: %w", stack.ErrUnreachable), syscall.ECONNREFUSED},
		{&stack.BlockedError{}, syscall.ETIMEDOUT},
	} {
		if got := tcpwire.Refusal(c.err); !errors.Is(got, c.want) {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

// A program that can write to its socket finds it connected, be the other end on this node or on another.
//
// Mutations it catches: handOver, or relay, drains what keeps the program from writing before the state is set.
func TestTCPWritableIsConnected(t *testing.T) {
	network := hub.New(hub.Config{})
	a, b := withTCP(t, network, 1), withTCP(t, network, 2)
	by := Caller{Context: t.Context(), Enter: unlimited{}.Another}
	l, at := a.listening(t, by)
	for _, s := range []*Sockets{a, b} {
		for range 100 {
			fd, own := s.tcpSocket(t, by)
			s.tcp.mu.Lock()
			x := s.tcp.ports[own.Port][0]
			s.tcp.mu.Unlock()
			if err := s.connectTCP(by, fd, at, true); err != syscall.EINPROGRESS {
				t.Fatal(err)
			}
			for connected := false; !connected; {
				x.mu.Lock()
				p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
				_, _ = unix.Poll(p, 0)
				connected = x.state == stateConnected
				x.mu.Unlock()
				if p[0].Revents != 0 && !connected {
					t.Fatal("the program can write before its socket is connected")
				}
			}
			unix.Close(take(t, l))
			unix.Close(fd)
		}
	}
}
