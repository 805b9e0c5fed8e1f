// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"math"
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
)

// A tristate is an option that may not have been set.
type tristate struct{ set, on bool }

// set sets options, in their order, up to the first that cannot be. Errors: errnos.
func (p *port) set(data []byte) (err error) {
	defer func() { // who accepts is another goroutine
		p.mu.Lock()
		p.inheritedOptions = inheritedOptions{p.cfg, p.scope}
		p.mu.Unlock()
	}()
	if p.x.options, err = attach.ParseOptions(data, p.x.options); err != nil {
		return syscall.EINVAL
	}
	for _, o := range p.x.options {
		if err := p.setOption(o.Name, o.Value); err != nil {
			return err
		}
	}
	return nil
}

// largest are the values that options with a range may have; the least is 0.
var largest = map[attach.OptionName]int64{
	attach.OptImportance:   int64(stack.Critical),
	attach.OptConnTimeout:  math.MaxUint32,
	attach.OptMulticast:    int64(stack.Replicast),
	attach.OptReceiveLimit: math.MaxInt32,
	attach.OptScope:        int64(stack.NodeScope),
	attach.OptBacklog:      math.MaxInt32,
}

// setOption sets an option, of the socket as it is if there is one already.
func (p *port) setOption(name attach.OptionName, v int64) error {
	if most, ok := largest[name]; ok && (v < 0 || v > most) {
		return syscall.EINVAL
	}
	e := p.is()
	c := &p.cfg
	switch name {
	case attach.OptImportance:
		c.Importance = stack.Importance(v)
		if e.packet != nil {
			return e.packet.SetImportance(c.Importance)
		}
	case attach.OptSrcDroppable:
		p.srcDroppable = tristate{true, v != 0}
		if e.packet != nil {
			return e.packet.SetSrcDroppable(v != 0)
		}
	case attach.OptDestDroppable:
		c.Returnable = v == 0
		if e.packet != nil {
			return e.packet.SetReturnable(c.Returnable)
		}
	case attach.OptBroadcast:
		return p.setMulticast(e, stack.Broadcast)
	case attach.OptReplicast:
		return p.setMulticast(e, stack.Replicast)
	case attach.OptMulticast:
		return p.setMulticast(e, stack.Method(v))
	case attach.OptNoDelay:
		c.NoDelay = v != 0
		if e.conn != nil {
			return e.conn.SetNoDelay(c.NoDelay)
		}
	case attach.OptReceiveLimit:
		c.ReceiveLimit = int(v)
		if e.packet != nil {
			return e.packet.SetReceiveLimit(c.ReceiveLimit)
		}
		if e.conn != nil {
			return e.conn.SetReadBuffer(c.ReceiveLimit)
		}
	default:
		return p.setKept(e, name, v)
	}
	return nil
}

// setKept sets an option that is kept for what the socket does next, and is not handed on.
func (p *port) setKept(e end, name attach.OptionName, v int64) error {
	c := &p.cfg
	switch name {
	case attach.OptConnTimeout:
		c.DialTimeout = time.Duration(v) * time.Millisecond
	case attach.OptNameWait:
		if e != (end{}) {
			return syscall.EISCONN // it belongs to the socket from its beginning
		}
		c.NameWait = time.Duration(v)
	case attach.OptScope:
		if s := frame.Scope(v); s != stack.ClusterScope && s != stack.NodeScope {
			return syscall.EINVAL
		}
		p.scope = frame.Scope(v)
	case attach.OptBacklog:
		c.Backlog = int(v)
	case attach.OptAcceptAhead:
		c.AcceptAhead = v != 0
	case attach.OptExclusive:
		if e != (end{}) {
			return syscall.EISCONN
		}
		c.Exclusive = v != 0
	case attach.OptRequests:
		if e != (end{}) {
			return syscall.EISCONN
		}
		c.Requests = v != 0
	case attach.OptManualAck:
		if e != (end{}) {
			return syscall.EISCONN
		}
		c.ManualAck = v != 0
	case attach.OptPreferIdle:
		if e != (end{}) {
			return syscall.EISCONN
		}
		c.PreferIdle = v != 0
	case attach.OptNodeRecvQueue, attach.OptSockRecvQueue, attach.OptRecvQueueUsed:
		return syscall.EINVAL // only to be asked for
	default:
		return syscall.ENOPROTOOPT
	}
	return nil
}

// setMulticast sets the method of multicasts.
func (p *port) setMulticast(e end, m stack.Method) error {
	p.cfg.Multicast = m
	if e.packet != nil {
		return e.packet.SetMulticast(m)
	}
	return nil
}

// get answers what options are.
func (p *port) get(data []byte) (t told) {
	var err error
	if p.x.options, err = attach.ParseOptions(data, p.x.options); err != nil {
		return told{err: syscall.EINVAL}
	}
	for _, o := range p.x.options {
		v, ok := p.option(o.Name)
		if !ok {
			return told{err: syscall.ENOPROTOOPT}
		}
		t.data = attach.AppendOption(t.data, o.Name, v)
	}
	return t
}

func (p *port) option(name attach.OptionName) (v int64, ok bool) {
	if on, ok := p.flag(name); ok {
		if on {
			v = 1
		}
		return v, true
	}
	c := &p.cfg
	switch name {
	case attach.OptImportance:
		if e := p.is(); e.conn != nil {
			return int64(e.conn.Importance()), true
		}
		return int64(c.Importance), true
	case attach.OptConnTimeout:
		if c.DialTimeout == 0 {
			return 8000, true
		}
		return c.DialTimeout.Milliseconds(), true
	case attach.OptBroadcast, attach.OptReplicast:
		return 0, true
	case attach.OptMulticast:
		return int64(c.Multicast), true
	case attach.OptReceiveLimit:
		return int64(c.ReceiveLimit), true
	case attach.OptNameWait:
		return int64(c.NameWait), true
	case attach.OptScope:
		return int64(p.scope), true
	case attach.OptBacklog:
		return int64(c.Backlog), true
	case attach.OptSockRecvQueue:
		return int64(p.is().stats(p.x.ctx).Queued), true
	case attach.OptRecvQueueUsed:
		return int64(p.is().stats(p.x.ctx).Bytes), true
	case attach.OptNodeRecvQueue:
		var all int64
		sockets, err := p.x.srv.node.Admin().Sockets(p.x.ctx)
		if err != nil {
			return 0, false
		}
		for _, s := range sockets {
			all += int64(s.Queued)
		}
		return all, true
	}
	return 0, false
}

// flag is option for those that are on or off.
func (p *port) flag(name attach.OptionName) (on, ok bool) {
	c := &p.cfg
	switch name {
	case attach.OptSrcDroppable:
		if p.srcDroppable.set {
			return p.srcDroppable.on, true
		}
		return p.kind == attach.KindDatagram, true
	case attach.OptDestDroppable:
		return !c.Returnable, true
	case attach.OptNoDelay:
		return c.NoDelay, true
	case attach.OptExclusive:
		return c.Exclusive, true
	case attach.OptRequests:
		return c.Requests, true
	case attach.OptManualAck:
		return c.ManualAck, true
	case attach.OptPreferIdle:
		return c.PreferIdle, true
	case attach.OptAcceptAhead:
		return c.AcceptAhead, true
	}
	return false, false
}

// stats are what the socket has done: nothing where there is none.
func (e end) stats(ctx context.Context) (s stack.SocketStats) {
	if c, ok := e.any().(counted); ok {
		s, _ = c.Stats(ctx) // of a socket in this process it cannot fail
	}
	return s
}

// duration is a wide argument as a time; what is too long is cut.
func duration(wide uint64) time.Duration { return time.Duration(min(wide, math.MaxInt64)) }
