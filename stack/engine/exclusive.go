// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"hash/fnv"
	"slices"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
)

// An exclusive binding has its range alone: no other binding in the cluster overlaps it, as far as
// its node knows. Of two that overlap one gives way, which both nodes find out by the same rule:
//
//	exclusive, the other is not         gives way
//	both exclusive, on the higher node  gives way
//
//	free ──(BindExclusive)──► bound ──(Settle)──► held ──(another goes before it)──► withdrawn, Port.Lost
//	                             └──(another goes before it)──► withdrawn, Settle says so
//
// Of three in a chain, A that overlaps B and B that overlaps C, C need not give way to B, which gives way to A: see
// spare.
//
// Its key says that it is exclusive. To kernels, and to older versions, a key is a number that tells
// bindings apart: they have plain bindings, know no exclusive ones, and never give way. Two nodes
// that bind at the same moment both succeed at first. So Settle is called once a Publication that began
// after BindExclusive has ended.
// Source: docs/explanation/protocol.md, "Among nodes of utipc".

// ErrNameTaken means that a name cannot be bound exclusively, or no longer, because another socket
// is bound to it. A *NameTakenError has the name and the socket.
var ErrNameTaken = fmt.Errorf("engine: the name is taken: %w", syscall.EADDRINUSE)

// A NameTakenError is why a range is not bound exclusively. It unwraps to ErrNameTaken, which is
// syscall.EADDRINUSE.
type NameTakenError struct {
	Name      frame.Range      // as it was to be bound
	By        frame.SocketAddr // whose binding overlaps it
	Exclusive bool             // that binding is exclusive, too
	Lost      bool             // the range was bound, and was withdrawn for that
}

// Error says what is taken, by whom, and what shows it.
func (e *NameTakenError) Error() string {
	how, taken, name := "not exclusively", "is taken", fmt.Sprint(e.Name)
	if e.Exclusive {
		how = "exclusively"
	}
	if e.Lost {
		taken = "was withdrawn here"
	}
	if e.Name.Lower == e.Name.Upper {
		name = frame.Service{Type: e.Name.Type, Instance: e.Name.Lower}.String()
	}
	return fmt.Sprintf("%s %s: socket %v is bound to it, %s (who is? utipc nametable show)", name, taken, e.By, how)
}

// Unwrap returns ErrNameTaken.
func (e *NameTakenError) Unwrap() error { return ErrNameTaken }

// exclusives are the exclusive bindings of a node's own sockets. The zero value has none.
type exclusives struct {
	held   map[naming.Binding]*Holding
	giving []givingWay               // to be withdrawn
	spared []naming.Binding          // see spare
	look   alarm                     // at the spared ones
	lost   map[*Port]*NameTakenError // sockets that have lost a name, until they bind or unbind
	told   []*Port                   // that the owner is to be told of
}

// A Holding is an exclusive binding.
type Holding struct {
	port    *Port
	settled bool
	gives   bool            // it is in giving
	spared  bool            // it is in spared
	lost    *NameTakenError // why it was lost before it was settled
}

// Settle has the socket hold the name from now on: Port.Lost says if it loses that. It returns the
// error with which it has lost it already, or nil.
func (c *Holding) Settle() error {
	c.settled = true
	if c.port.refused == c {
		c.port.refused = nil
	}
	if c.lost != nil {
		return c.lost
	}
	return nil
}

// SettleNames is Settle of all that the socket has bound. Errors: those of Settle, ErrClosed.
func (p *Port) SettleNames() error {
	if p.closed {
		return ErrClosed
	}
	for _, b := range p.bindings {
		if c := p.e.exclusive.held[b]; c != nil {
			c.settled = true
		}
	}
	if c := p.refused; c != nil {
		return c.Settle()
	}
	return nil
}

// A givingWay is an exclusive binding and the one that it gives way to.
type givingWay struct{ own, to naming.Binding }

// exclusiveKey is the key of a socket's exclusive binding to a range. No other binding of a node with
// Exclusive has it.
func exclusiveKey(r frame.Range, s frame.SocketAddr) uint32 {
	h := fnv.New32a()
	h.Write(fmt.Appendf(nil, "exclusive %d %d %d %d %d", r.Type, r.Lower, r.Upper, s.Node, s.Port))
	return h.Sum32()
}

// isExclusive reports whether a binding is exclusive: of a node that knows that there are such.
func (e *Engine) isExclusive(b naming.Binding) bool {
	if b.Scope != frame.ClusterScope || b.Key != exclusiveKey(b.Range, b.Socket) {
		return false
	}
	if b.Socket.Node == e.addr {
		return true
	}
	n := e.peer(b.Socket.Node)
	return n != nil && n.has(Exclusive)
}

// key draws the key of a binding that is not exclusive.
func (p *Port) key(r frame.Range) (key uint32) {
	marked := exclusiveKey(r, p.Addr())
	for key = marked; key == marked; {
		key = p.e.cfg.Chance.Key(p.number)
	}
	return key
}

// BindExclusive binds the socket to a range that no other binding overlaps, one of the socket's own
// included, and tells the cluster. Errors: *NameTakenError, and those of Bind.
func (p *Port) BindExclusive(now time.Duration, r frame.Range) (*Holding, error) {
	e := p.e
	if err := p.mayBind(now, r); err != nil {
		return nil, err
	}
	for b := range e.table.Live(r) {
		return nil, &NameTakenError{Name: r, By: b.Socket, Exclusive: e.isExclusive(b)}
	}
	b := naming.Binding{Range: r, Scope: frame.ClusterScope, Socket: p.Addr(), Key: exclusiveKey(r, p.Addr())}
	x := &e.exclusive
	if x.held == nil {
		x.held = map[naming.Binding]*Holding{}
	}
	c := &Holding{port: p}
	x.held[b] = c
	p.addBinding(now, b)
	return c, nil
}

// Lost is the last name that the socket has held exclusively and lost to another; nil: none since it
// was bound or unbound.
func (p *Port) Lost() *NameTakenError {
	if len(p.e.exclusive.lost) == 0 {
		return nil
	}
	return p.e.exclusive.lost[p]
}

// contest has the own exclusive bindings give way that a binding, which the table has now, goes
// before. What it costs depends on the own bindings that it overlaps, which count as work, and is nothing
// without an exclusive one.
func (e *Engine) contest(now time.Duration, b naming.Binding) {
	x := &e.exclusive
	if len(x.held) == 0 {
		return
	}
	exclusive, looked := e.isExclusive(b), 0
	for own := range e.table.LiveOwn(b.Range) {
		looked++
		c := x.held[own]
		switch {
		case c == nil || c.gives || own == b || exclusive && before(own.Socket, b.Socket):
		case exclusive && c.settled && e.givesWay(b):
			x.spare(e, now, c, own)
		default:
			x.give(c, own, b)
		}
	}
	e.did(WorkBindings, looked)
}

// give has an own binding give way to b at the end of the turn.
func (x *exclusives) give(c *Holding, own, b naming.Binding) {
	c.gives = true
	x.giving = append(x.giving, givingWay{own, b})
}

// before reports whether the exclusive binding of one socket goes before that of another: of another
// node, as a node has no two that overlap.
func before(a, b frame.SocketAddr) bool { return a.Node < b.Node }

// spareTime is how long a binding that this node expects to be withdrawn has for that.
const spareTime = time.Second

// mostRivals is how many bindings givesWay looks at; what it does not find among them is not so.
const mostRivals = 64

// spare has an own binding stay for spareTime, though one of another node goes before it: that gives way itself, to a
// third. Else of a chain A, B, C that comes together when a network heals the third would end without a holder. One
// that is not settled is not spared: whoever binds it may try again.
func (x *exclusives) spare(e *Engine, now time.Duration, c *Holding, own naming.Binding) {
	if c.spared {
		return
	}
	c.spared = true
	x.spared = append(x.spared, own)
	if x.look.owner = (*spareLook)(e); !x.look.isSet() {
		e.alarms.set(&x.look, now+spareTime)
	}
}

// givesWay reports whether an exclusive binding of another node gives way, as far as this node knows: whether one goes
// before it that does not give way itself.
func (e *Engine) givesWay(b naming.Binding) bool {
	left := mostRivals
	gives := e.overtakenBy(b, &left)
	e.did(WorkBindings, mostRivals-max(left, 0))
	return gives && left >= 0
}

// overtakenBy is givesWay that looks at no more than left bindings; below 0 the answer means nothing. It goes from node
// to lower nodes, so it ends.
func (e *Engine) overtakenBy(b naming.Binding, left *int) bool {
	for d := range e.table.Live(b.Range) {
		if *left--; *left < 0 {
			return false
		}
		exclusive := e.isExclusive(d)
		switch {
		case d == b, d.Scope != frame.ClusterScope, exclusive && !before(d.Socket, b.Socket):
		case !exclusive || !e.overtakenBy(d, left):
			return true
		}
	}
	return false
}

// A spareLook is the engine, as what rings for bindings that were spared.
type spareLook Engine

// ring has those give way that another goes before still.
func (s *spareLook) ring(now time.Duration, _ *alarm) {
	e := (*Engine)(s)
	x := &e.exclusive
	spared := x.spared
	x.spared = nil
	for _, own := range spared {
		c := x.held[own]
		if c == nil || c.gives {
			continue
		}
		c.spared = false
		for b := range e.table.Live(own.Range) {
			e.did(WorkBindings, 1)
			if b != own && !(e.isExclusive(b) && before(own.Socket, b.Socket)) {
				x.give(c, own, b)
				break
			}
		}
	}
	e.giveWay(now)
}

// giveWay withdraws the exclusive bindings that have lost their names.
func (e *Engine) giveWay(now time.Duration) {
	x := &e.exclusive
	for len(x.giving) > 0 {
		g := x.giving[0]
		if x.giving = x.giving[1:]; len(x.giving) == 0 {
			x.giving = nil
		}
		c := x.held[g.own]
		if c == nil || c.port.closed {
			continue // taken back meanwhile, or about to be
		}
		p, err := c.port, &NameTakenError{Name: g.own.Range, By: g.to.Socket, Exclusive: e.isExclusive(g.to), Lost: true}
		p.bindings = slices.DeleteFunc(p.bindings, func(b naming.Binding) bool { return b == g.own })
		if c.settled {
			x.lose(p, err)
		} else {
			c.lost, p.refused = err, c
		}
		e.withdraw(now, g.own)
	}
}

// lose notes that a socket has lost a name.
func (x *exclusives) lose(p *Port, err *NameTakenError) {
	if x.lost == nil {
		x.lost = map[*Port]*NameTakenError{}
	}
	x.lost[p] = err
	x.told = append(x.told, p)
}

// settleLost forgets that the socket has lost a name, and reports whether it was this one.
func (p *Port) settleLost(r frame.Range) bool {
	was := p.Lost()
	delete(p.e.exclusive.lost, p)
	if c := p.refused; c != nil && c.lost.Name == r {
		p.refused = nil
		return true
	}
	return was != nil && was.Name == r
}

// TakeLost appends to dst the owners of the sockets that have lost an exclusive name since the last
// call.
func (e *Engine) TakeLost(dst []any) []any {
	x := &e.exclusive
	for _, p := range x.told {
		switch {
		case p.closed:
		case p.listener != nil:
			dst = append(dst, p.listener.Owner)
		default:
			dst = append(dst, p.Owner)
		}
	}
	x.told = nil
	return dst
}
