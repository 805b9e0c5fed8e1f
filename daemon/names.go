// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"net"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// rename changes the socket's names, which are counted: what the program is told of a name that was lost
// has the number of changes before, so that it knows what came late.
func (p *port) rename(change func(h *attach.Header) told, h *attach.Header) told {
	p.naming.Lock()
	t := change(h)
	if t.err == nil {
		p.renames++
	}
	p.naming.Unlock()
	p.boundAgain()
	return t
}

// nameLost is the name that the socket has lost, or nil, and how often its names were changed before.
func (p *port) nameLost() (lost *stack.NameTakenError, renames uint32) {
	p.naming.Lock()
	defer p.naming.Unlock()
	if s := p.is().pollable(); s != nil {
		lost = hosting.Lost(s)
	}
	return lost, p.renames
}

// bind binds the socket to one more name.
func (p *port) bind(h *attach.Header) (t told) {
	addr, ok := h.Addr.Addr()
	if !ok || addr == nil {
		return told{err: syscall.EINVAL}
	}
	scope, err := scopeOf(h.Addr, p.scope)
	if err == nil {
		err = p.x.srv.reserved(addr)
	}
	if err != nil {
		return told{err: err}
	}
	e := p.is()
	switch {
	case e.conn != nil || e.group != nil || p.busy():
		return told{err: syscall.EISCONN}
	case e.packet == nil && e.listener == nil:
		h.Addr.Scope = int8(scope)
		return p.listen(h)
	}
	if t.err = p.name(1); t.err != nil {
		return t
	}
	if e.packet != nil {
		t.err = e.packet.BindScope(addr, scope)
	} else {
		t.err = e.listener.BindScope(addr, scope)
	}
	if t.err != nil {
		p.unname(1)
	}
	t.Addr = e.socket()
	return t
}

// reserved is an error of an address that programs may not bind.
func (s *Server) reserved(addr net.Addr) error {
	switch a := addr.(type) {
	case stack.Service:
		return s.plain.Reserved(a.Type)
	case stack.Range:
		return s.plain.Reserved(a.Type)
	}
	return nil
}

func (p *port) unbind(h *attach.Header) (t told) {
	addr, ok := h.Addr.Addr()
	if !ok || addr == nil {
		return told{err: syscall.EINVAL}
	}
	scope, err := scopeOf(h.Addr, p.scope)
	if err != nil {
		return told{err: err}
	}
	switch e := p.is(); {
	case e.packet != nil:
		t.err = e.packet.UnbindScope(addr, scope)
	case e.listener != nil:
		t.err = e.listener.UnbindScope(addr, scope)
	default:
		t.err = stack.ErrNotBound
	}
	if t.err == nil {
		p.unname(1)
	}
	return t
}

// boundAgain has what waits delivered of a socket that may have lost a name before, and gives that
// name back.
func (p *port) boundAgain() {
	s := p.is().pollable()
	if !p.cfg.Exclusive || s == nil {
		return
	}
	bound := hosting.Bound(s)
	p.mu.Lock()
	polled, lost := p.polled, p.names-bound
	p.mu.Unlock()
	p.unname(max(0, lost))
	if polled != nil {
		polled.Again()
	}
}

// name charges for names, unname gives them back.
func (p *port) name(k int) error {
	if err := p.x.charge(names, k); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.names += k
	return nil
}

func (p *port) unname(k int) {
	p.mu.Lock()
	k = min(k, p.names)
	p.names -= k
	p.mu.Unlock()
	p.x.client.release(names, k)
}
