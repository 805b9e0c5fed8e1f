// SPDX-License-Identifier: Apache-2.0

package daemon_test

import (
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

const (
	plainGroup     = 21650
	plainEvents    = 2 // of TIPC_GROUP_JOIN
	plainBlocks    = 100_000
	memberInstance = 7
)

// join makes the socket a member of the group, and returns its address.
func (s *plainSocket) join(instance, flags uint32) attach.Sockaddr {
	s.t.Helper()
	svc := attach.ServiceSockaddr(stack.Service{Type: plainGroup, Instance: instance}, 0)
	s.want(0, attach.Header{Op: attach.OpPlainJoin, Addr: svc, Arg0: flags})
	return s.ask(attach.Header{Op: attach.OpPlainState}).Addr
}

// writable reports whether poll says that the socket may be written.
func (s *plainSocket) writable() bool {
	s.t.Helper()
	p := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLOUT}}
	if _, err := unix.Poll(p, 0); err != nil {
		s.t.Fatal(err)
	}
	return p[0].Revents&unix.POLLOUT != 0
}

// texts receives all that is there of members, as "instance text" or "instance joined" and so on.
func (s *plainSocket) texts() string {
	s.t.Helper()
	var all []string
	for {
		var b [1]byte
		if _, _, err := unix.Recvfrom(s.fd, b[:], unix.MSG_DONTWAIT|unix.MSG_PEEK); err != nil {
			return strings.Join(all, ", ")
		}
		h, text := s.receive()
		svc, ok := h.Addr2.Service()
		if !ok || svc.Type != plainGroup {
			s.t.Fatalf("%v from no member", &h)
		}
		text = []string{text, "joined", "left"}[h.Arg0>>8]
		all = append(all, string('0'+rune(svc.Instance))+" "+text)
	}
}

// Members of a group on one host have what is sent to all, to one, to any and to some when the send
// is answered, and read who joined and left; what others send to a member is dropped. A member keeps
// its address and names, and has messages again once it has left. Mutations: joinGroup joins without
// hosting.JoinAs; Leave does not give the number back; closedByProgram does nothing.
//
// Proves: plain.groups
func TestPlainGroup(t *testing.T) {
	b := newBed(t, daemon.Config{})
	a, c, d, outside := b.plain(t, attach.KindRDM), b.plain(t, attach.KindRDM), b.plain(t, attach.KindDatagram), b.plain(t, attach.KindRDM)
	before := c.ask(attach.Header{Op: attach.OpPlainState}).Addr
	name := attach.ServiceSockaddr(plainService, 0)
	c.want(0, attach.Header{Op: attach.OpPlainBind, Addr: name})

	a.join(1, 0)
	if a.writable() {
		t.Error("a member that is alone is writable")
	}
	if got := c.join(2, plainEvents); got != before {
		t.Errorf("as a member %v, before %v", &got, &before)
	}
	third := d.join(2, 0)
	a.await(unix.POLLOUT)
	if got := c.texts(); got != "1 joined, 2 joined" {
		t.Errorf("joined: %q", got)
	}
	any2 := attach.ServiceSockaddr(stack.Service{Type: 1, Instance: 2}, 0)
	all2 := attach.RangeSockaddr(frame.Range{Type: 1, Lower: 2, Upper: 9}, 0)
	for _, m := range []struct {
		to   attach.Sockaddr
		text string
		c, d string
	}{
		{attach.Sockaddr{}, "all", "1 all", "1 all"},
		{third, "one", "", "1 one"},
		{any2, "any", "", "1 any"}, // the last that joined is the first
		{any2, "any", "1 any", ""},
		{all2, "some", "1 some", "1 some"},
	} {
		if e := a.send(m.to, []byte(m.text)); e != 0 {
			t.Errorf("%v: %v", &m.to, e)
		}
		if x, y := c.texts(), d.texts(); x != m.c || y != m.d {
			t.Errorf("to %v: %q and %q, want %q and %q", &m.to, x, y, m.c, m.d)
		}
	}
	for _, to := range []attach.Sockaddr{
		attach.ServiceSockaddr(stack.Service{Type: plainGroup, Instance: memberInstance}, 0),
		attach.SocketSockaddr(stack.SocketAddr{Port: 1, Node: b.node.Addr()}),
	} {
		if e := a.send(to, []byte("x")); e != syscall.EHOSTUNREACH {
			t.Errorf("to %v: %v", &to, e)
		}
	}
	for _, to := range []attach.Sockaddr{before, name} {
		if e := outside.send(to, []byte("from outside")); e != 0 {
			t.Error(e)
		}
	}
	c.nothing()
	for _, h := range []attach.Header{
		{Op: attach.OpPlainBind, Addr: rangeSockaddr(5, 5), Errno: syscall.EACCES},
		{Op: attach.OpPlainConnect, Addr: name, Errno: syscall.EINVAL},
		{Op: attach.OpPlainJoin, Addr: any2, Errno: syscall.EACCES},
		{Op: attach.OpPlainJoin, Addr: attach.ServiceSockaddr(stack.Service{Type: plainGroup}, 0), Errno: syscall.EACCES},
	} {
		e := h.Errno
		h.Errno = 0
		c.want(e, h)
	}

	cookie := plainCookie(t, d.fd)
	d.close()
	b.plainAsk(t, attach.Header{Op: attach.OpPlainClosed, Wide: cookie}, nil, -1)
	if got := c.texts(); got != "2 left" {
		t.Errorf("closed: %q", got)
	}
	c.want(0, attach.Header{Op: attach.OpPlainLeave})
	c.want(syscall.EINVAL, attach.Header{Op: attach.OpPlainLeave})
	for _, to := range []attach.Sockaddr{before, name} {
		if e := outside.send(to, []byte("again")); e != 0 {
			t.Error(e)
		}
		if _, text := c.receive(); text != "again" {
			t.Errorf("after it left: %q", text)
		}
	}
	c.want(0, attach.Header{Op: attach.OpPlainBind})
	if e := a.send(attach.Sockaddr{}, []byte("x")); e != syscall.EHOSTUNREACH {
		t.Errorf("alone: %v", e)
	}
}

func plainCookie(t *testing.T, fd int) uint64 {
	t.Helper()
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	if err != nil {
		t.Fatal(err)
	}
	return cookie
}

// A member that does not read holds up who sends to it, who is not writable until it has read, and
// loses nothing. A socket that joins and leaves, and ends in a group, leaves nothing counted.
// Mutations: sendTo does not shut the gate; mayWrite does nothing; close of a member does
// not count its name off.
//
// Proves: plain.groups
func TestPlainGroupWaits(t *testing.T) {
	b := newBed(t, daemon.Config{})
	a, c, d := b.plain(t, attach.KindRDM), b.plain(t, attach.KindRDM), b.plain(t, attach.KindRDM)
	a.join(1, 0)
	slow, other := c.join(2, 0), d.join(3, 0)
	a.await(unix.POLLOUT)
	data := make([]byte, 5000)
	sent := 0
	for ; a.send(slow, data) == 0; sent++ {
		if sent == plainBlocks {
			t.Fatal("nothing holds it up")
		}
	}
	if a.writable() {
		t.Error("writable, though a send has found no room")
	}
	if e := a.send(attach.Sockaddr{}, data); e != syscall.EAGAIN {
		t.Errorf("to all: %v", e)
	}
	if e := a.send(other, data); e != 0 {
		t.Errorf("to another: %v", e)
	}
	for range sent {
		c.await(unix.POLLIN)
		c.receive()
	}
	a.await(unix.POLLOUT)
	if e := a.send(slow, data); e != 0 {
		t.Errorf("after it has read: %v", e)
	}
	d.want(0, attach.Header{Op: attach.OpPlainLeave})
	for _, s := range []*plainSocket{a, c, d} {
		cookie := plainCookie(t, s.fd)
		s.close()
		b.plainAsk(t, attach.Header{Op: attach.OpPlainClosed, Wide: cookie}, nil, -1)
	}
	if c := b.srv.Counters(); c.Names != 0 {
		t.Errorf("%d names are counted, want none", c.Names)
	}
}

// A socket of a connected kind may be in a group, and be connected once it has left.
// Mutations: close of a member leaves the bytes in D that keep P from being writable; pairDirect does
// not look for a member, whose name then stays counted.
//
// Proves: plain.groups
func TestPlainGroupThenConnection(t *testing.T) {
	b := newBed(t, daemon.Config{})
	name := attach.ServiceSockaddr(plainService, 0)
	l := b.plain(t, attach.KindStream)
	l.want(0, attach.Header{Op: attach.OpPlainBind, Addr: name})
	l.want(0, attach.Header{Op: attach.OpPlainListen})
	s := b.plain(t, attach.KindStream)
	s.join(1, 0)
	s.want(syscall.EINVAL, attach.Header{Op: attach.OpPlainConnect, Addr: name, Arg0: 1})
	s.want(syscall.EINVAL, attach.Header{Op: attach.OpPlainPair})
	s.want(0, attach.Header{Op: attach.OpPlainLeave})
	s.want(syscall.EINPROGRESS, attach.Header{Op: attach.OpPlainConnect, Addr: name, Arg0: 1})
	n := l.accept()
	s.write("data")
	n.await(unix.POLLIN)
	buf := make([]byte, 100)
	if k, _, err := unix.Recvfrom(n.fd, buf, unix.MSG_DONTWAIT); err != nil || string(buf[:max(k, 0)]) != "data" {
		t.Errorf("%d bytes, %v; want the data alone", k, err)
	}
}

// A program that writes into its P itself keeps nobody else waiting: of what is in D no more is taken out
// than was put there. Mutation: open drains D until it is empty.
//
// Proves: plain.harmless
func TestPlainGroupGate(t *testing.T) {
	b := newBed(t, daemon.Config{})
	a, c := b.plain(t, attach.KindRDM), b.plain(t, attach.KindRDM)
	a.join(1, 0)
	a.write("junk")
	c.join(2, 0)
	a.await(unix.POLLOUT)
	a.want(0, attach.Header{Op: attach.OpPlainLeave}) // after the gate was opened
	if left, err := unix.IoctlGetInt(a.fd, unix.TIOCOUTQ); err != nil || left == 0 {
		t.Errorf("%d bytes are left, %v; want what the program wrote", left, err)
	}
}
