// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// join makes the session's socket a member of a group.
func (x *session) join(h *attach.Header) (t told) {
	svc, ok := h.Addr.Service()
	if !ok {
		return told{err: syscall.EINVAL}
	}
	p := x.port
	if p == nil {
		if x.taken() {
			return told{err: syscall.EISCONN}
		}
		p = &port{x: x, scope: stack.ClusterScope}
	}
	old := p.is()
	switch {
	case p.kind.Connected() || old.group != nil:
		return told{err: syscall.EISCONN}
	case old.packet != nil && p.bound(old):
		return told{err: syscall.EINVAL} // as with a kernel, who is bound is no member
	}
	scope, err := scopeOf(h.Addr, p.scope)
	if err == nil {
		err = x.srv.reserved(svc)
	}
	if err != nil {
		return told{err: err}
	}
	cfg := stack.GroupConfig{
		Scope: scope, Loopback: h.Arg0&1 != 0, Events: h.Arg0&2 != 0, Policy: stack.SlowPolicy(h.Arg0 >> 8),
		Importance: stack.Importance(h.Arg0 >> 16), Limit: int(h.Arg1), ReceiveLimit: int(min(h.Wide, 1<<31)),
	}
	if t.err = p.name(1); t.err != nil {
		return t
	}
	g, err := cfg.Join(hosting.Count(x.ctx, x.client.queued), x.srv.node, svc)
	if err == nil && x.port == nil {
		if err = x.adopt(p); err != nil {
			g.Close()
		}
	}
	if err == nil {
		err = p.become(end{group: g})
	}
	if err != nil {
		p.unname(1)
		return told{err: err}
	}
	old.close(true)
	e := p.is()
	t.Addr = e.socket()
	if t.err = x.answerWith(h, t); t.err != nil { // before any message
		return t
	}
	h.ID = 0
	p.watch(e)
	return t
}

// bound reports whether a socket has names.
func (p *port) bound(e end) bool {
	names, err := e.packet.Bindings(p.x.ctx)
	return err == nil && len(names) > 0
}

// leaveGroup makes a member a socket as it was before.
func (p *port) leaveGroup() error {
	e := p.is()
	if e.group == nil {
		return syscall.EINVAL
	}
	e.group.Close()
	p.unname(1)
	if p.kind == 0 {
		return p.become(end{})
	}
	if err := p.openPacket(); err != nil {
		return err
	}
	p.watch(p.is())
	return nil
}
