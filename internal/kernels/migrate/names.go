// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
)

// Types of names: of objects, by their numbers, and of hosts, by their ranks.
const (
	objectType = 18910
	hostType   = 18911
)

// What a host is sent: a byte, and what belongs to it.
const (
	ask   = iota + 1 // the object's number, and a message's
	again            // an ask that a host forwards: besides, to whom the answer goes
	state            // an object that comes to stay
	bound            // an object whose name the next host has bound now
	end              // no more
)

// Lengths of them, in bytes.
const (
	askLen   = 1 + 4 + 8
	againLen = askLen + 4 + 4
	stateLen = 1 + objectLen
)

func objectName(id uint32) stack.Service { return stack.Service{Type: objectType, Instance: id} }
func hostName(rank int) stack.Service {
	return stack.Service{Type: hostType, Instance: uint32(rank)}
}

// A nameHost has a socket that is bound to its objects' names, and to the host's own.
type nameHost struct {
	conn  *stack.PacketConn
	stop  func() bool
	ranks int
	here  map[uint32]*object
	named map[uint32]bool          // objects whose names are bound
	gone  map[uint32]stack.Service // to which host
	hops  map[uint32]uint32        // how often the object had moved when it went
	out   []byte
}

func newNameHost(ctx context.Context, p ranks.Place, objects int) (*nameHost, error) {
	conn, err := p.Node.ListenPacket(ctx, "tipcrdm", hostName(p.Rank))
	if err != nil {
		return nil, err
	}
	h := &nameHost{
		conn: conn, ranks: p.Ranks, stop: context.AfterFunc(ctx, func() { conn.Close() }),
		here: map[uint32]*object{}, named: map[uint32]bool{}, gone: map[uint32]stack.Service{}, hops: map[uint32]uint32{},
	}
	for _, o := range atFirst(p, objects) {
		if err := h.take(o); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	for rank := 1; rank < p.Ranks; rank++ { // to whom objects go
		if err := p.Node.WaitFor(ctx, hostName(rank)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return h, nil
}

func (h *nameHost) close() {
	h.stop()
	h.conn.Close()
}

func (h *nameHost) serve() error {
	b := make([]byte, 64)
	for {
		n, m, err := h.conn.ReadMsg(b)
		if err != nil {
			return err
		}
		if n < 1 || m.Truncated {
			continue // nobody sends this
		}
		switch {
		case b[0] == ask && n == askLen:
			err = h.asked(b[:n], m.From)
		case b[0] == again && n == againLen:
			err = h.asked(b[:askLen], stack.SocketAddr{
				Node: stack.NodeAddr(binary.BigEndian.Uint32(b[askLen:])), Port: binary.BigEndian.Uint32(b[askLen+4:]),
			})
		case b[0] == state && n == stateLen:
			err = h.comes(readObject(b[1:n]), m.From)
		case b[0] == bound && n == stateLen:
			err = h.left(readObject(b[1:n]))
		case b[0] == end:
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// asked has an object take a number, or forwards that.
func (h *nameHost) asked(b []byte, from stack.SocketAddr) error {
	id, number := binary.BigEndian.Uint32(b[1:]), binary.BigEndian.Uint64(b[5:])
	o := h.here[id]
	if o == nil {
		to, ok := h.gone[id]
		if !ok {
			return nil // it never was here
		}
		h.out = append(append(h.out[:0], again), b[1:]...)
		h.out = binary.BigEndian.AppendUint32(h.out, uint32(from.Node))
		h.out = binary.BigEndian.AppendUint32(h.out, from.Port)
		_, err := h.conn.WriteTo(h.out, to)
		return err
	}
	o.take(number)
	h.out = o.append(h.out[:0])
	if _, err := h.conn.WriteTo(h.out, from); err != nil {
		return err
	}
	if !o.leaves() {
		return nil
	}
	// It goes, and what still comes for it goes after it.
	o.Hops++
	to := hostName(hostOf(id, o.Hops, h.ranks))
	delete(h.here, id)
	h.gone[id], h.hops[id] = to, o.Hops
	h.out = o.append(append(h.out[:0], state))
	_, err := h.conn.WriteTo(h.out, to)
	return err
}

// take has an object here, and its name bound. It may be bound still, if the object was here
// not long ago.
func (h *nameHost) take(o *object) error {
	h.here[o.ID] = o
	if h.named[o.ID] {
		return nil
	}
	h.named[o.ID] = true
	return h.conn.Bind(objectName(o.ID))
}

// comes takes an object in, and tells the host that it came from when its name is bound.
func (h *nameHost) comes(o object, from stack.SocketAddr) error {
	if err := h.take(&o); err != nil {
		return err
	}
	h.out = o.append(append(h.out[:0], bound))
	_, err := h.conn.WriteTo(h.out, from)
	return err
}

// left withdraws the name of an object that is bound at its next host, unless it is back.
func (h *nameHost) left(o object) error {
	if h.here[o.ID] != nil || h.hops[o.ID] != o.Hops {
		return nil
	}
	h.named[o.ID] = false
	return h.conn.Unbind(objectName(o.ID))
}

// A nameAsker calls objects by their names.
type nameAsker struct {
	ctx    context.Context
	node   *stack.Node
	ranks  int
	out    []byte
	answer [objectLen]byte
}

func newNameAsker(ctx context.Context, p ranks.Place, objects int) (*nameAsker, error) {
	for id := range uint32(objects) {
		if err := p.Node.WaitFor(ctx, objectName(id)); err != nil {
			return nil, err
		}
	}
	return &nameAsker{ctx: ctx, node: p.Node, ranks: p.Ranks}, nil
}

// ask repeats what came back, or found nobody: an object knows what it has taken.
func (a *nameAsker) ask(id uint32, number uint64) (o object, repeats int, err error) {
	a.out = append(a.out[:0], ask)
	a.out = binary.BigEndian.AppendUint32(a.out, id)
	a.out = binary.BigEndian.AppendUint64(a.out, number)
	for ; ; repeats++ {
		n, _, err := a.node.Call(a.ctx, objectName(id), a.out, a.answer[:])
		var back *stack.RejectError
		switch {
		case err == nil && n == objectLen:
			return readObject(a.answer[:]), repeats, nil
		case err == nil:
			return o, repeats, fmt.Errorf("an answer of %d bytes", n)
		case !errors.As(err, &back) && !errors.Is(err, stack.ErrUnreachable):
			return o, repeats, err
		}
		if err := a.node.WaitFor(a.ctx, objectName(id)); err != nil {
			return o, repeats, err
		}
	}
}

func (a *nameAsker) end() error {
	conn, err := a.node.ListenPacket(a.ctx, "tipcrdm", nil)
	if err != nil {
		return err
	}
	defer conn.Close()
	for rank := 1; rank < a.ranks; rank++ {
		if _, err := conn.WriteTo([]byte{end}, hostName(rank)); err != nil {
			return err
		}
	}
	return nil
}
