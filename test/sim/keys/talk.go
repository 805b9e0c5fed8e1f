// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"encoding/binary"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// talk is what a node says, and hears. A flow is what one life of a node sends to another
// while contact with it lasts: its messages are numbered from 0.
type talk struct {
	port, all *engine.Port
	epoch     []uint32 // of each other station: contacts made
	sent      []uint32 // to it in that contact
	casts     uint32   // sent to all
	heard     map[flow]uint32
	heardAll  map[uint32]uint32 // of a life: the next multicast of it
}

// A flow is known by the sender's life and its epoch with the receiver.
type flow struct{ life, epoch uint32 }

func (t *talk) reset(c *cluster) {
	n := len(c.stations)
	*t = talk{epoch: make([]uint32, n), sent: make([]uint32, n), heard: map[flow]uint32{}, heardAll: map[uint32]uint32{}}
}

// meet begins a new flow.
func (t *talk) meet(i int) {
	t.epoch[i]++
	t.sent[i] = 0
}

const headLen = 20 // life, epoch, number, length, receiver

// bind opens a node's sockets.
func (c *cluster) bind(s *station) {
	s.port = s.eng.OpenPort(engine.PortConfig{ReceiveLimit: 1 << 26})
	s.all = s.eng.OpenPort(engine.PortConfig{ReceiveLimit: 1 << 26})
	for _, x := range []struct {
		p *engine.Port
		r frame.Range
	}{{s.port, frame.Service{Type: serviceType, Instance: uint32(s.idx)}.Range()}, {s.all, frame.Service{Type: allType}.Range()}} {
		if err := x.p.Bind(c.now, x.r, frame.ClusterScope); err != nil {
			panic(err)
		}
	}
}

var lengths = [...]int{headLen, 64, 200, 1399, 1400, 1428, 1429, 5000, 20000}

// message makes one.
func (c *cluster) message(life, epoch, number uint32, to int) []byte {
	n := lengths[c.r.IntN(len(lengths)-1)]
	if c.r.IntN(20) == 0 {
		n = lengths[len(lengths)-1]
	}
	if cap(c.msg) < n {
		c.msg = make([]byte, n)
	}
	m := c.msg[:n]
	for i, v := range [...]uint32{life, epoch, number, uint32(n), uint32(to)} {
		binary.BigEndian.PutUint32(m[4*i:], v)
	}
	for i := headLen; i < n; i++ {
		m[i] = byte(number) + byte(i)
	}
	return m
}

// chat lets a node say something, perhaps.
func (c *cluster) chat(s *station) {
	if c.r.IntN(4) > 0 {
		return
	}
	to := c.r.IntN(len(c.stations))
	if to == s.idx {
		m := c.message(s.life, 0, s.casts, -1)
		if s.all.SendRange(c.now, frame.Service{Type: allType}.Range(), m) == nil {
			s.casts++
			c.report.Messages++
		}
	} else {
		m := c.message(s.life, s.epoch[to], s.sent[to], to)
		if s.port.SendService(c.now, frame.Service{Type: serviceType, Instance: uint32(to)}, m) == nil {
			s.sent[to]++
			c.report.Messages++
		}
	}
	c.after(s)
}

// read takes what came for a node.
func (c *cluster) read(s *station) {
	for _, p := range [...]*engine.Port{s.port, s.all} {
		for {
			n, from, ok := p.Read(c.into[:])
			if !ok {
				break
			}
			if from.Error != 0 {
				continue
			}
			c.report.Read++
			if c.Mutation == Swallow && c.report.Read == 500 {
				continue
			}
			c.heard(s, p == s.all, c.into[:n])
			if c.Mutation == Again && c.report.Read == 500 {
				c.heard(s, p == s.all, c.into[:n])
			}
		}
	}
}

// heard checks a message that a node read.
func (c *cluster) heard(s *station, all bool, m []byte) {
	if err := intact(m); err != nil {
		c.violate("node %v reads %v", s.addr, err)
		return
	}
	word := func(i int) uint32 { return binary.BigEndian.Uint32(m[4*i:]) }
	life, number := word(0), word(2)
	if !all {
		if int(word(4)) != s.idx {
			c.violate("node %v reads a message to station %d", s.addr, word(4))
		}
		f := flow{life, word(1)}
		if want := s.talk.heard[f]; number != want {
			c.violate("node %v reads message %d of life %d, want %d", s.addr, number, life, want)
		}
		s.talk.heard[f] = number + 1
		return
	}
	if want, ok := s.heardAll[life]; ok && number != want {
		c.violate("node %v reads multicast %d of life %d, want %d", s.addr, number, life, want)
	}
	s.heardAll[life] = number + 1
}

// intact checks that nothing of a message was changed.
func intact(m []byte) error {
	if len(m) < headLen || int(binary.BigEndian.Uint32(m[12:])) != len(m) {
		return fmt.Errorf("a message of %d bytes, which it is not", len(m))
	}
	for i := headLen; i < len(m); i++ {
		if m[i] != m[11]+byte(i) {
			return fmt.Errorf("a message that was changed at byte %d", i)
		}
	}
	return nil
}

// missing says what has not come yet of what was sent to those that live, if anything.
func (c *cluster) missing() string {
	for _, s := range c.members {
		for _, o := range c.members {
			if s == o {
				continue
			}
			if got := o.talk.heard[flow{s.life, s.epoch[o.idx]}]; got != s.sent[o.idx] {
				return fmt.Sprintf("%d of %d messages from %v to %v came", got, s.sent[o.idx], s.addr, o.addr)
			}
			if got, ok := o.heardAll[s.life]; ok && got != s.casts {
				return fmt.Sprintf("%v heard multicasts of %v up to %d, not to %d", o.addr, s.addr, got, s.casts)
			}
		}
	}
	return ""
}
