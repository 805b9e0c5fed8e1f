// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// How much is delivered from one socket before others have their turn.
const passMessages = 32

type passed uint8

const (
	passDone    passed = iota // there is no more
	passMore                  // there may be
	passStalled               // the program does not read
)

// pass delivers some messages.
func (p *port) pass(buf *scratch) passed {
	e := p.is()
	p.from = e
	if e.listener != nil {
		return p.passListener(e.listener)
	}
	for range passMessages {
		var h attach.Header
		var k int
		var ok bool
		switch {
		case e.packet != nil:
			k, ok = p.readPacket(e.packet, &h, buf[:])
		case e.conn != nil:
			if p.told {
				return passDone
			}
			var data []byte
			if data, ok = p.readConn(e.conn, &h, buf); h.Op == attach.OpEnd {
				k = copy(buf[:], data)
			} else {
				k = len(data)
			}
		case e.group != nil:
			var err error
			if k, err = readGroup(e.group, &h, buf[:]); err != nil && err != syscall.EAGAIN && !errors.Is(err, net.ErrClosed) {
				p.x.fail(err) // it has left for holding too much
			}
			ok = err == nil
		}
		if !ok {
			return passDone
		}
		out := outgoing{h: h, data: buf[:k]}
		switch err := p.x.c.TryWrite(&out.h, out.data); err {
		case nil:
			p.delivered(&out)
		case syscall.EAGAIN:
			out.data = bytes.Clone(out.data)
			p.left = out
			return passStalled
		default:
			if !p.undelivered(&out, err) {
				return passDone
			}
		}
	}
	return passMore
}

// delivered counts a message that the program's socket has taken.
func (p *port) delivered(out *outgoing) {
	if out.h.Op != attach.OpMessage {
		return
	}
	for _, c := range [...]*counters{&p.x.client.counters, &p.x.srv.counters} {
		c.messages.Add(1)
		c.bytesOut.Add(uint64(len(out.data)))
	}
}

// undelivered deals with a record that was taken from the node and that the program's
// socket will never take. A datagram goes back to its sender; of a connection or a group
// nothing may be left out, so it ends, and the peer reads a reset. Only a datagram that is
// too long for the socket leaves that as it is: goesOn.
func (p *port) undelivered(out *outgoing, err error) (goesOn bool) {
	if out.h.Op == attach.OpMessage {
		p.x.client.undelivered.Add(1)
		p.x.srv.counters.undelivered.Add(1)
	}
	c := p.from.packet
	goesOn = c != nil && errors.Is(err, syscall.EMSGSIZE)
	if c != nil && out.h.Op == attach.OpMessage {
		why := frame.NoPort
		if goesOn {
			why = frame.Overload
		}
		hosting.Return(c, out.data, why)
	}
	if !goesOn {
		p.x.fail(err)
	}
	return goesOn
}

// readPacket reads a message of a connectionless socket, or tells that it has lost a name.
func (p *port) readPacket(c *stack.PacketConn, h *attach.Header, buf []byte) (int, bool) {
	k, m, err := c.TryReadMsg(buf)
	if err == syscall.EAGAIN {
		return 0, false
	}
	if err != nil {
		return p.tellLost(h, buf, err)
	}
	h.Op, h.Addr = attach.OpMessage, attach.SocketSockaddr(m.From)
	h.Arg0, h.Arg1, h.Wide = uint32(m.Importance), uint32(m.Error), m.Receipt
	switch {
	case m.Named && m.Error != 0:
		h.Addr2 = attach.ServiceSockaddr(stack.Service{Type: m.Name.Type, Instance: m.Name.Lower}, 0)
	case m.Named:
		h.Addr2 = attach.RangeSockaddr(m.Name, 0)
	}
	return k, true
}

// tellLost tells once what name a socket has lost, if that is the error.
func (p *port) tellLost(h *attach.Header, buf []byte, err error) (int, bool) {
	if !errors.As(err, new(*stack.NameTakenError)) {
		return 0, false
	}
	lost, renames := p.nameLost()
	if lost == nil || lost == p.lost { // it is bound anew meanwhile
		return 0, false
	}
	p.lost = lost
	var data []byte
	h.Op, h.Arg0 = attach.OpLost, renames+1
	h.Errno, data = encode(lost)
	return copy(buf, data), true
}

// readGroup reads a message, or an event, of a group.
func readGroup(g *stack.Group, h *attach.Header, buf []byte) (int, error) {
	k, m, err := g.TryReadMsg(buf)
	if err != nil {
		return 0, err
	}
	h.Op, h.Addr = attach.OpMessage, attach.SocketSockaddr(m.From)
	h.Addr2 = attach.ServiceSockaddr(m.Member, 0)
	h.Arg0 = uint32(m.Importance) | uint32(m.Kind)<<8
	switch m.Kind {
	case stack.MemberLeft:
		if m.Evicts {
			h.Wide = 1
		}
	case stack.MemberEvicted, stack.MemberDropping:
		h.Wide = uint64(m.Behind)<<32 | uint64(min(m.Idle.Milliseconds(), 1<<32-1))
	}
	if m.Private {
		h.Flags |= attach.FlagPrivate
	}
	return k, nil
}

// readConn reads from a connection, or tells of its end.
func (p *port) readConn(c *stack.Conn, h *attach.Header, buf *scratch) ([]byte, bool) {
	k, _, err := c.TryReadMsg(buf[:])
	if err == nil {
		h.Op = attach.OpMessage
		return buf[:k], true
	}
	if err == syscall.EAGAIN {
		return nil, false
	}
	if err == io.EOF && p.x.features&attach.FeatureHalfClose != 0 {
		if err = hosting.Ended(c); err == nil { // the peer reads on
			was := p.read
			p.read = true
			h.Op = attach.OpReadEnd
			return nil, !was
		}
	}
	p.told = true
	h.Op, h.Wide = attach.OpEnd, p.placed(c)
	if err == io.EOF {
		return nil, true
	}
	var data []byte
	h.Errno, data = encode(err)
	h.Arg1 = uint32(codeOf(err))
	return data, true
}
