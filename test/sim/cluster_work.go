// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// Service types of a cluster's names.
const (
	singleType  = 1000 // to 1004: single instances, hardly one twice
	overlapType = 1010 // to 1011: ranges that overlap
	sharedType  = 1020 // few names, each of several sockets
	castType    = 2000 // what is multicast to, all over the cluster
	oneType     = 3000 // every socket has an instance of its own
)

// A sock is a socket, and what is known of it.
type sock struct {
	t         *term
	e         *engine.Port
	binds     []bind
	withdrawn map[uint32]bool // keys of bindings
	closed    bool
	one       frame.Range // its own name

	got   map[uint32]bool             // multicasts that were read since the last rest
	last  map[frame.SocketAddr]uint32 // the latest multicast of each sender
	every time.Duration               // 0: it reads at once
	soon  bool                        // it is about to read
	job   *castJob

	replicast bool           // as its last multicast went
	turns     []*cast        // the multicasts with which it changed the method
	knew      map[*sock]bool // those known when it sent the first
	steady    bool           // what it is bound to stays
}

// begin opens a new life's sockets. Half of the bindings come within a second, while
// other nodes are met.
func (t *term) begin() {
	c := t.m.c
	t.m.addr = t.eng.Address()
	socks := min(2+c.Bindings/10, 8, c.Bindings)
	for i := range socks {
		s := t.open()
		if i == 0 && socks > 1 {
			s.steady = true
			s.bind(c.castRange(10), frame.ClusterScope)
		}
	}
	for i := range c.Bindings - t.bound() {
		if i%2 == 0 {
			t.bindSome()
			continue
		}
		c.clock.after(c.upTo(time.Second), func() {
			if !t.dead {
				t.bindSome()
				t.settle()
			}
		})
	}
	if !c.Quiet {
		c.clock.after(c.upTo(40*time.Millisecond), t.act)
	}
}

// open opens a socket and binds its own name.
func (t *term) open() *sock {
	c := t.m.c
	c.nextID++
	s := &sock{t: t, one: frame.Range{Type: oneType, Lower: c.nextID, Upper: c.nextID}, got: map[uint32]bool{}, withdrawn: map[uint32]bool{}, last: map[frame.SocketAddr]uint32{}}
	if c.work.IntN(3) == 0 {
		s.every = 1 + c.upTo(50*time.Millisecond)
	}
	s.e = t.eng.OpenPort(engine.PortConfig{Importance: frame.Importance(c.work.IntN(4)), ReceiveLimit: 1 << 28, Owner: s})
	t.socks = append(t.socks, s)
	s.bind(s.one, frame.ClusterScope)
	return s
}

// bindSome binds a socket of a node, which is not the steady one, to something.
func (t *term) bindSome() {
	c := t.m.c
	s := t.socks[c.work.IntN(len(t.socks))]
	if s.steady {
		s = t.socks[1]
	}
	scope := frame.ClusterScope
	if c.work.IntN(8) == 0 {
		scope = frame.NodeScope
	}
	r := frame.Range{}
	switch c.work.IntN(4) {
	case 0:
		r.Type, r.Lower = singleType+uint32(c.work.IntN(5)), c.work.Uint32()
		r.Upper = r.Lower
	case 1:
		r.Type, r.Lower = overlapType+uint32(c.work.IntN(2)), uint32(c.work.IntN(1000))
		r.Upper = r.Lower + uint32(c.work.IntN(200))
	case 2:
		r.Type, r.Lower = sharedType, uint32(c.work.IntN(10))
		r.Upper = r.Lower
	default:
		r = c.castRange(4)
	}
	s.bind(r, scope)
}

// castRange draws a range for multicasts that is not wider than a number.
func (c *cluster) castRange(width int) frame.Range {
	lower := uint32(c.work.IntN(20))
	return frame.Range{Type: castType, Lower: lower, Upper: lower + uint32(c.work.IntN(width))}
}

func (s *sock) bind(r frame.Range, scope frame.Scope) {
	c := s.t.m.c
	if err := s.e.Bind(s.t.now(), r, scope); err != nil {
		c.violate("tables", "node %d: bind %v: %v", s.t.m.idx, r, err)
		return
	}
	c.report.Binds++
	s.binds = append(s.binds, bind{r, scope})
}

func (s *sock) unbind(i int) {
	c, b := s.t.m.c, s.binds[i]
	s.binds = append(s.binds[:i:i], s.binds[i+1:]...)
	var gone []uint32
	for _, x := range s.e.Bindings() {
		if x.Range == b.r && x.Scope == b.scope {
			gone = append(gone, x.Key)
		}
	}
	s.withdrawn[gone[len(gone)-1]] = true // the newest
	if err := s.e.Unbind(s.t.now(), b.r, b.scope); err != nil {
		c.violate("tables", "node %d: unbind %v: %v", s.t.m.idx, b.r, err)
	}
	c.report.Unbinds++
}

// close closes a socket.
func (t *term) close(s *sock) {
	for i, x := range t.socks {
		if x == s {
			t.socks = append(t.socks[:i:i], t.socks[i+1:]...)
			break
		}
	}
	s.read() // what was not read is not lost by the stack
	s.closed = true
	t.do(func(now time.Duration) { s.e.Close(now) })
}

// act does one thing and comes back for the next, while there is trouble.
func (t *term) act() {
	c := t.m.c
	if t.dead {
		return
	}
	c.clock.after(1+c.upTo(50*time.Millisecond), t.act)
	if !c.busy {
		return
	}
	if c.Exclusive && c.work.IntN(3) == 0 {
		t.actSole()
		t.settle()
		return
	}
	if c.Connections && (c.scarce || c.work.IntN(4) > 0) {
		t.actCalls()
		t.settle()
		return
	}
	s, room := t.socks[c.work.IntN(len(t.socks))], t.bound() < 2*c.Bindings+10
	switch x := c.work.IntN(100); {
	case x < 2:
		if len(t.socks) < 10 {
			t.open()
		}
	case x < 4:
		if len(t.socks) > 2 && !s.steady {
			t.close(s)
		}
	case x < 30 && room:
		t.bindSome()
	case x < 34 && room:
		for range 10 {
			t.bindSome()
		}
	case x >= 92:
		s.begin()
	case len(s.binds) > 1 && !s.steady:
		s.unbind(1 + c.work.IntN(len(s.binds)-1)) // not its own name
	}
	t.settle()
}

// bound is how many bindings a node has.
func (t *term) bound() (n int) {
	for _, s := range t.socks {
		n += len(s.binds)
	}
	for _, p := range t.sole {
		n += len(p.Bindings())
	}
	for _, a := range t.acceptors {
		if a.bound {
			n++
		}
	}
	return n
}

// trouble is some seconds of faults and changes.
func (c *cluster) trouble() {
	c.busy = true
	r := chances{c.work}
	tolerance := 30 * time.Second
	for _, m := range c.members {
		tolerance = min(tolerance, m.tolerance)
	}
	for i, s := range c.nets {
		f := &c.faults[i]
		f.Loss = r.pick(0, 0.001, 0.01, 0.05)
		f.Duplicate = r.pick(0, 0, 0.01, 0.1)
		f.Reorder = r.pick(0, 0, 0.01, 0.1, 0.4)
		if r.IntN(2) == 0 {
			f.Places = 2 << r.IntN(6)
		}
		s.maxDelay = min(time.Duration(1+r.IntN(15))*time.Millisecond, tolerance/12)
	}
	each := time.Duration(len(c.members))
	crash, part, flap := r.often(0.6, 2*time.Second), r.often(0.5, 3*time.Second), r.often(0.3, 2*time.Second)
	for _, m := range c.members {
		c.every(crash*each, m.restart)
	}
	if c.Connections {
		c.moreTrouble(r, each)
	}
	c.every(part, c.part)
	c.every(flap, func() { c.flap(1 + c.upTo(2*time.Second)) })
	c.tracef("trouble: crash %v, part %v, flap %v, %+v", crash, part, flap, c.faults[:len(c.nets)])
	c.run(3*time.Second + c.upTo(5*time.Second))
}

// restart ends a member's life, and it comes back, perhaps as another node.
func (m *member) restart() {
	c := m.c
	if m.term == nil {
		return
	}
	m.end(c.work.IntN(3) == 0)
	if c.work.IntN(2) == 0 {
		m.another()
	}
	c.clock.after(50*time.Millisecond+c.upTo(4*time.Second), m.start)
}

// another makes a member be another node when it comes back: by its address, by its
// identity, or by both.
func (m *member) another() {
	c := m.c
	c.report.Moved++
	m.moves++
	if c.Connections {
		m.card++
	}
	next := frame.NodeAddr(0x1001001 + m.idx + 0x100*m.moves)
	switch c.work.IntN(4) {
	case 0:
		m.addr = next
	case 1:
		m.identity = frame.AddrIdentity(next)
	case 2:
		m.addr, m.identity = next, frame.AddrIdentity(next)
	default: // it has to find itself an address
		m.addr, m.identity = 0, frame.AddrIdentity(next)
	}
}

// part parts the cluster in two for a while, in one network or in all.
func (c *cluster) part() {
	c.report.Partitions++
	c.split++
	split, oneWay := c.split, c.work.IntN(4) == 0
	first := c.work.IntN(len(c.nets))
	c.nets[first].part(oneWay)
	if all := c.work.IntN(3) > 0; all {
		for i, s := range c.nets {
			for j := range s.split {
				copy(s.split[j], c.nets[first].split[j])
			}
			c.tracef("network %d: partition %v", i, s.split)
		}
		c.watchParted(split)
	}
	c.clock.after(1+c.upTo(6*time.Second), func() {
		if c.split == split {
			c.split++
			for _, s := range c.nets {
				s.join()
			}
		}
	})
}

// flap cuts a member off from one network for a while.
func (c *cluster) flap(d time.Duration) {
	c.report.Flaps++
	s, i, round := c.nets[c.work.IntN(len(c.nets))], c.work.IntN(len(c.members)), c.round
	s.gone[i]++
	c.clock.after(d, func() {
		if c.round == round && s.gone[i] > 0 {
			s.gone[i]--
		}
	})
}
