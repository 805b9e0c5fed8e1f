// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// A scribe is a connUser that writes down what it hears, and then does something.
type scribe struct {
	log  []string
	then func(now time.Duration, what string, c *Conn, data []byte)
}

func (s *scribe) note(now time.Duration, what string, c *Conn, data []byte) {
	line := fmt.Sprint(what, " ", c.State())
	if what == "message" {
		line += fmt.Sprint(" ", len(data))
	}
	s.log = append(s.log, line)
	if s.then != nil {
		s.then(now, what, c, data)
	}
}

func (s *scribe) accepted(now time.Duration, c *Conn) { s.note(now, "accepted", c, nil) }

func (s *scribe) message(now time.Duration, c *Conn, data []byte) { s.note(now, "message", c, data) }

func (s *scribe) writable(now time.Duration, c *Conn) { s.note(now, "writable", c, nil) }
func (s *scribe) ended(now time.Duration, c *Conn)    { s.note(now, "ended", c, nil) }

// inside makes a listener of the topology service's name for a user.
func (b *bed) inside(user connUser) *Listener {
	b.t.Helper()
	l := b.y.listenInside(0x5000, ListenConfig{}, user)
	if l.Addr().Port != 0x5000 {
		b.t.Errorf("got %v, want port 0x5000", l.Addr())
	}
	if err := l.Bind(b.now, frame.Range{Type: 3, Lower: 1, Upper: 1}, frame.NodeScope); err != ErrReserved {
		b.t.Errorf("a reserved type: got %v, want %v", err, ErrReserved)
	}
	if err := l.bindInside(b.now, frame.Range{Type: 3, Lower: 1, Upper: 1}, frame.NodeScope); err != nil {
		b.t.Fatal(err)
	}
	return l
}

func (b *bed) dialInside(first []byte) *Conn {
	b.t.Helper()
	c, err := b.x.DialService(b.now, ConnConfig{}, frame.Service{Type: 3, Instance: 1, Node: b.y.Address()}, first)
	if err != nil {
		b.t.Fatal(err)
	}
	b.settle()
	return c
}

// A user hears of what happens in order, and answers in the call.
//
// Proves: socket.flow
func TestConnUser(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		echo := &scribe{then: func(now time.Duration, what string, c *Conn, data []byte) {
			switch {
			case what == "message" && len(data) == 1:
				c.Close(now)
			case what == "message":
				c.Write(now, data)
			}
		}}
		l := b.inside(echo)
		first := text(100, 1)
		c := b.dialInside(first)
		if c.State() != Established || !bytes.Equal(b.readAll(c, 200), first) {
			t.Errorf("the first message: %v", c.State())
		}
		for i := range 300 {
			c.Write(b.now, text(1000, i))
			if got := b.readAll(c, 2000); !bytes.Equal(got, text(1000, i)) {
				t.Fatalf("message %d: got %d bytes", i, len(got))
			}
		}
		if unacked, window := c.Window(); window != 512 || unacked > 128 {
			t.Errorf("the user's reading is not acknowledged: %d, window %d", unacked, window)
		}
		want := append([]string{"accepted established", "message established 100"}, slices.Repeat([]string{"message established 1000"}, 300)...)
		if !slices.Equal(echo.log, want) {
			t.Errorf("got %q", echo.log)
		}
		echo.log = nil
		c.Abort(b.now)
		if b.x == b.y && b.y.Deadline() > b.now {
			t.Errorf("the user is to be called at %v, it is %v", b.y.Deadline(), b.now)
		}
		b.until(time.Second, func() bool { return len(echo.log) > 0 })
		c = b.dialInside(nil)
		c.Write(b.now, []byte{1}) // it closes
		b.settle()
		if want := []string{"ended ended", "accepted established", "message established 1"}; !slices.Equal(echo.log, want) {
			t.Errorf("got %q, want %q", echo.log, want)
		}
		if ended(c) != "closed by the peer, connection shutdown" || l.open != 0 || len(l.from) != 0 {
			t.Errorf("got %v, %d open, %v", ended(c), l.open, l.from)
		}
		c.Close(b.now)
		l.Close(b.now)
	})
}

// A user that closes or aborts in any call, its own or another connection.
func TestConnUserClosesAnywhere(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		for _, when := range []string{"accepted", "message", "writable", "ended"} {
			for _, how := range []func(c *Conn, now time.Duration){(*Conn).Close, (*Conn).Abort} {
				s := &scribe{}
				s.then = func(now time.Duration, what string, c *Conn, data []byte) {
					if what == "message" {
						for c.Write(now, text(3000, 1)) == nil {
						}
					}
					if what == when {
						how(c, now)
					}
				}
				l := b.inside(s)
				c := b.dialInside(text(3000, 1))
				for range 3 {
					b.readAll(c, 70000)
					b.pass(10 * time.Millisecond)
				}
				if want := when != "ended"; (c.State() == Ended) != want {
					t.Errorf("%s: got %v", when, c.State())
				}
				if when == "accepted" && slices.Contains(s.log, "message closed 3000") {
					t.Errorf("a message after the end: %q", s.log)
				}
				c.Close(b.now)
				b.pass(10 * time.Millisecond)
				if l.open != 0 {
					t.Errorf("%s: %d open", when, l.open)
				}
				l.Close(b.now)
			}
		}
	})
}

// A user that finds the window full, or the link, hears when there is room; what it
// sends arrives whole.
func TestConnUserWaits(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		for _, size := range []int{10, 1400, 30000} {
			sent, full := 0, map[string]int{}
			count := min(2000, 4000000/size)
			s := &scribe{}
			s.then = func(now time.Duration, what string, c *Conn, data []byte) {
				for what != "ended" && sent < count {
					err := c.Write(now, text(size, sent))
					if err != nil {
						full[fmt.Sprint(errors.Is(err, ErrWindow), errors.Is(err, flowctl.ErrCongested))]++
						if !connFull(err) {
							t.Errorf("got %v", err)
						}
						return
					}
					if c.ticket.line != nil {
						t.Error("it has sent, and waits still")
					}
					sent++
				}
			}
			l := b.inside(s)
			c := b.dialInside([]byte{1, 2})
			buf := make([]byte, size+1)
			for i := range count {
				n, _, ok := c.Read(b.now, buf)
				for !ok && b.until(time.Second, func() bool { return c.Pending() > 0 }) {
					n, _, ok = c.Read(b.now, buf)
				}
				if !ok || !bytes.Equal(buf[:n], text(size, i)) {
					t.Fatalf("message %d of %d bytes: %v, %d sent, stopped %v", i, size, ok, sent, full)
				}
			}
			if full["true false"] == 0 || b.x != b.y && size == 1400 && full["false true"] == 0 {
				t.Errorf("%d bytes: stopped %v", size, full)
			}
			if w := &b.y.queues; w.memory[0].waiting != 0 || w.memory[1].waiting != 0 {
				t.Error("waits for memory still")
			}
			c.Close(b.now)
			b.pass(10 * time.Millisecond)
			l.Close(b.now)
		}
	})
}

// A user that was called because of room and has nothing to send gives its place up.
func TestConnUserThatWantsNothingMore(t *testing.T) {
	b := newConnBed(t, false)
	s := &scribe{}
	var err error
	s.then = func(now time.Duration, what string, c *Conn, data []byte) {
		for what == "message" {
			if err = c.Write(now, text(1400, 1)); err != nil {
				return
			}
		}
	}
	l := b.inside(s)
	c := b.dialInside([]byte{1, 2})
	b.readAll(c, 2000) // from now on the window is larger than the link's
	s.log = nil
	c.Write(b.now, []byte{1, 2})
	b.settle()
	if !errors.Is(err, flowctl.ErrCongested) {
		t.Errorf("got %v, want a congested link", err)
	}
	b.until(time.Second, func() bool { return len(s.log) > 1 })
	if want := []string{"message established 2", "writable established"}; !slices.Equal(s.log, want) {
		t.Errorf("got %q, want %q", s.log, want)
	}
	for _, x := range b.y.nodes[0].links {
		if x != nil && x.senders != nil && x.senders.lines[0].waiting != 0 {
			t.Error("it waits still")
		}
	}
	c.Close(b.now)
	l.Close(b.now)
	b.until(time.Second, func() bool { return l.open == 0 })
	b.clean()
}

// Two users of one node that answer each other do not take the stack for it.
func TestConnUsersWithinNode(t *testing.T) {
	b := newConnBed(t, true)
	left := 0
	count := &scribe{}
	count.then = func(now time.Duration, what string, c *Conn, data []byte) {
		count.log = nil
		if what == "message" && left > 0 {
			left--
			if err := c.Write(now, data); err != nil {
				t.Errorf("%d left: %v", left, err)
				left = 0
			}
		}
	}
	l := b.inside(count)
	c := b.dialInside(nil)
	c.user = count // as if the other end were in the engine, too
	left = 100000
	c.Write(b.now, []byte("ping"))
	if left != 0 {
		t.Errorf("%d left", left)
	}
	c.Close(b.now)
	l.Close(b.now)
	b.clean()
}

// Contact lost, and ended by it, is told once; so is the limit of connections.
func TestConnUserLimits(t *testing.T) {
	b := newConnBed(t, false)
	s := &scribe{}
	l := b.inside(s)
	var all []*Conn
	for range maxNodeInside + 10 {
		all = append(all, b.dialInside(nil))
	}
	open, waiting := 0, 0
	for _, c := range all {
		switch c.State() {
		case Established:
			open++
		case Connecting:
			waiting++
		}
	}
	if open != maxNodeInside || waiting != 10 || l.open != maxNodeInside {
		t.Errorf("got %d open, %d waiting, want %d and 10", open, waiting, maxNodeInside)
	}
	own, _ := b.y.DialService(b.now, ConnConfig{}, frame.Service{Type: 3, Instance: 1}, nil)
	if own.State() != Established {
		t.Errorf("another node's share: got %v", own.State())
	}
	s.log = nil
	b.lose = func(int, []byte) bool { return true }
	b.until(20*time.Second, func() bool { return b.y.nodes[0].conns == nil && b.y.conns.calls.Len() == 0 })
	if n := strings.Count(strings.Join(s.log, "\n"), "ended ended"); n != maxNodeInside || l.open != 1 {
		t.Errorf("%d ended, %d open, want %d and 1", n, l.open, maxNodeInside)
	}
	b.lose = nil
	for _, c := range append(all, own) {
		c.Close(b.now)
	}
	b.until(time.Second, func() bool { return l.open == 0 })
	l.Close(b.now)
	b.clean()
}
