// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
)

// A clientEnd is a connection to the topology service, as a test plays it.
type clientEnd struct {
	room            int // messages it takes until writable
	fail            error
	out             [][]byte
	then            func() // what a Write brings about
	closed, aborted bool
	node            frame.NodeAddr // 0: popAddr
}

func (c *clientEnd) Write(_ time.Duration, b []byte) error {
	switch {
	case c.fail != nil:
		return c.fail
	case c.room == 0:
		return &WindowFull{}
	}
	c.room--
	c.out = append(c.out, bytes.Clone(b))
	if c.then != nil {
		c.then()
	}
	return nil
}

func (c *clientEnd) Close(time.Duration) { c.closed = true }

func (c *clientEnd) Abort(time.Duration) { c.aborted = true }

func (c *clientEnd) Peer() frame.SocketAddr {
	return frame.SocketAddr{Port: 9, Node: cmp.Or(c.node, popAddr)}
}

// A serviceBed is a node whose topology service is asked.
type serviceBed struct {
	t testing.TB
	*Engine
	now time.Duration
	key uint32
}

func newService(t testing.TB, addr frame.NodeAddr) *serviceBed {
	e, err := New(Config{Address: addr, Arena: newArena(t, netdev.ArenaConfig{Small: 128}), Chance: NewSeeded(1, 2)})
	if err != nil {
		t.Fatal(err)
	}
	e.topology.native = frame.LittleEndian
	return &serviceBed{t: t, Engine: e, key: 1000}
}

func (s *serviceBed) connect() *clientEnd { return s.connectFrom(0) }

func (s *serviceBed) connectFrom(a frame.NodeAddr) *clientEnd {
	c := &clientEnd{room: 1 << 30, node: a}
	s.topology.accepted(s.now, c)
	return c
}

// say brings a message, and has it served.
func (s *serviceBed) say(c *clientEnd, b []byte) {
	s.topology.message(s.now, c, b)
	s.turn()
}

// turn lets the engine do what is due.
func (s *serviceBed) turn() {
	s.t.Helper()
	for i := 0; s.Deadline() <= s.now; i++ {
		if i == 1000 {
			s.t.Fatal("it always has something to do")
		}
		s.HandleTimeout(s.now)
	}
	s.TakeNameEvents(nil)
}

// until lets time pass.
func (s *serviceBed) until(now time.Duration) {
	s.now = now
	s.turn()
}

// bind enters a binding, and has it told.
func (s *serviceBed) bind(b naming.Binding) naming.Binding {
	if s.key++; b.Key == 0 {
		b.Key = s.key
	}
	if b.Scope == 0 {
		b.Scope = frame.ClusterScope
	}
	s.table.Insert(b)
	s.HandleTimeout(s.now)
	return b
}

func (s *serviceBed) unbind(b naming.Binding) {
	s.table.Remove(b)
	s.HandleTimeout(s.now)
}

func at(typ, lower, upper, port uint32, node frame.NodeAddr) naming.Binding {
	return naming.Binding{Range: frame.Range{Type: typ, Lower: lower, Upper: upper}, Socket: frame.SocketAddr{Port: port, Node: node}}
}

// ask is a subscription's record, written by a host of the order o.
func ask(o frame.Order, typ, lower, upper, timeout uint32, f frame.Filter) []byte {
	r := frame.SubscriptionFields{Order: o, Range: frame.Range{Type: typ, Lower: lower, Upper: upper}, Timeout: timeout, Filter: f, Handle: [8]byte{7, 6, 5}}
	return r.Append(nil)
}

func allOf(typ uint32) []byte {
	return ask(frame.LittleEndian, typ, 0, 1<<32-1, frame.Forever, frame.FilterPorts)
}

// told returns the events that have come, as peer prints them in the captures.
func (c *clientEnd) told(t testing.TB) (lines []string) {
	t.Helper()
	for _, b := range c.out {
		e, err := frame.ParseTopologyEvent(b, frame.LittleEndian)
		if err != nil || len(b) != frame.TopologyEventLen {
			t.Fatalf("% x: %v", b, err)
		}
		typ := map[frame.EventType]string{frame.Published: "published", frame.Withdrawn: "withdrawn", frame.TimedOut: "timeout"}[e.Type()]
		r, a := e.Found(), e.Socket()
		node := "0"
		if a.Node != 0 {
			node = a.Node.String()
		}
		lines = append(lines, fmt.Sprintf("event type=%s found={%d,%d,%d} port=%s:%d", typ, r.Type, r.Lower, r.Upper, node, a.Port))
	}
	c.out = nil
	return lines
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
