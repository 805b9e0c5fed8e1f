// SPDX-License-Identifier: Apache-2.0

package plain

import (
	"context"
	"net"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// A member is a socket while it is in a group. Nothing else comes to it then.
type member struct {
	x       *socket
	group   *stack.Group
	service stack.Service
	polled  *stack.Polled
}

// A gate keeps P from being writable, by bytes in D, while its socket is in a group and
// a send would wait. As with a kernel it stays as it is when the socket leaves.
type gate struct {
	mu     sync.Mutex
	closed bool
}

// gateBytes is more than a quarter of what the kernel lets a UNIX socket send, which is what makes it
// not writable.
const gateBytes = 56000

// shut makes P, of which fd is a copy, not writable.
func (g *gate) shut(fd int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		var zeros [gateBytes]byte
		g.closed = unix.Sendto(fd, zeros[:], unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil) == nil
	}
}

// open undoes shut, when the program may send.
func (g *gate) open(d *end, may func() bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed && may() {
		g.closed = false
		d.drain(gateBytes) // and no more: the program may write without end
	}
}

// Flags of TIPC_GROUP_JOIN.
const (
	groupLoopback = 1
	groupEvents   = 2
)

// joinGroup makes the socket, P of which is fd, a member of the group Addr, with flags in Arg0. Source:
// docs/spec/08-groups.md §1.
func (x *socket) joinGroup(h *attach.Header, fd int) error {
	svc, ok := h.Addr.Service()
	if !ok {
		return syscall.EINVAL
	}
	defer x.all.deliver()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != stateOpen {
		return syscall.EINVAL
	}
	switch {
	case svc.Type < 64, x.member != nil:
		return syscall.EACCES
	case h.Addr.Scope < 0 || h.Addr.Scope > int8(frame.NodeScope):
		return syscall.EINVAL
	}
	if err := x.all.Reserved(svc.Type); err != nil {
		return err
	}
	cfg := stack.GroupConfig{
		Scope: stack.ClusterScope, Loopback: h.Arg0&groupLoopback != 0, Events: h.Arg0&groupEvents != 0,
		Importance: x.options.importance,
	}
	if h.Addr.Scope == int8(frame.NodeScope) {
		cfg.Scope = stack.NodeScope
	}
	if err := x.owner.Name(1); err != nil {
		return err
	}
	ctx := hosting.Count(x.ctx, x.owner.Queued())
	if x.packets != nil {
		ctx = hosting.JoinAs(ctx, x.packets)
	} else {
		ctx = hosting.JoinAs(ctx, x.l)
	}
	g, err := cfg.Join(ctx, x.all.node, svc)
	if err != nil {
		x.owner.Unname(1)
		return err
	}
	m := &member{x: x, group: g, service: svc}
	x.member, x.options.group = m, svc.Type
	x.gate.shut(fd)
	_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, receiveRoomOption, memberRoom/2)
	if x.packets != nil { // of a connected kind nothing is read
		m.polled = x.all.poller.Add(g, m)
	}
	return nil
}

// memberRoom is what SO_RCVBUF of a member reads, as a kernel's.
const memberRoom = 47124480

// leaveGroup ends the membership.
func (x *socket) leaveGroup() error {
	defer x.all.deliver() // members on this host have read that it left when the call returns
	x.mu.Lock()
	defer x.mu.Unlock()
	m := x.member
	if m == nil {
		return syscall.EINVAL
	}
	x.member, x.options.group = nil, 0
	m.close() // under the lock: the number is the socket's again before it can join anew
	return nil
}

func (m *member) close() {
	if m.x.kind.Connected() {
		m.x.gate.open(m.x.d, func() bool { return true })
	}
	m.group.Close()
	m.x.owner.Unname(1)
}

// mayWrite has P be writable if a send would not wait.
func (m *member) mayWrite() {
	m.x.gate.open(m.x.d, func() bool { return hosting.Room(m.group) })
}

// read implements source.
func (m *member) read(h *attach.Header, buf []byte) (int, bool) {
	k, r, err := m.group.TryReadMsg(buf)
	if err != nil {
		return 0, false
	}
	h.Op, h.Addr = attach.OpMessage, attach.SocketSockaddr(r.From)
	h.Addr2 = attach.ServiceSockaddr(r.Member, 0)
	h.Arg0 = uint32(r.Importance) + 256*uint32(r.Kind)
	return k, true
}

// giveBack implements source: what a member does not take is lost.
func (m *member) giveBack(*attach.Header, []byte, error) {}

// socket implements source.
func (m *member) socket() any { return m.group }

// destination is where in the group an address goes. Its type does not matter.
func (m *member) destination(a attach.Sockaddr) (net.Addr, error) {
	if s, ok := a.Service(); ok {
		return stack.Service{Type: m.service.Type, Instance: s.Instance}, nil
	}
	if r, ok := a.Range(); ok {
		return stack.Range{Type: m.service.Type, Lower: r.Lower, Upper: r.Lower}, nil
	}
	if s, ok := a.Socket(); ok {
		return s, nil
	}
	return nil, syscall.EINVAL
}

// sendTo sends to members, to all without an address. fd is P.
func (m *member) sendTo(ctx context.Context, h *attach.Header, data []byte, fd int) error {
	write := func() error {
		_, err := m.group.TryWriteTo(data, nil)
		return err
	}
	wait := func() error {
		_, err := m.group.Write(data)
		return err
	}
	if !h.Addr.IsZero() {
		to, err := m.destination(h.Addr)
		if err != nil {
			return err
		}
		write = func() error {
			_, err := m.group.TryWriteTo(data, to)
			return err
		}
		wait = func() error {
			_, err := m.group.WriteTo(data, to)
			return err
		}
	}
	return m.x.sendBy(ctx, h, m.group, write, func() {
		m.x.gate.shut(fd)
		m.mayWrite() // it may be otherwise by now
	}, wait)
}
