// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/local"
	"github.com/utipc/utipc/stack/internal/poll"
)

// An impostor is a socket of a node that answers as a topology service does not.
type impostor struct {
	n  *stack.Node
	l  *engine.Listener
	cs []*engine.Conn
}

// newImpostor makes a socket on n to which to subscribe, by dial.
func newImpostor(t *testing.T, n *stack.Node) *impostor {
	t.Helper()
	inside(n).Loop().Lock()
	defer inside(n).Loop().Unlock()
	return &impostor{n: n, l: inside(n).Engine().Listen(engine.ListenConfig{})}
}

// dial connects a line of from to the impostor with a request that has a record, and
// lets it answer: each message in a write, then with end.
func (p *impostor) dial(t *testing.T, from *stack.Node, record []byte, wait *poll.List, end func(c *engine.Conn, now time.Duration), say ...[]byte) *local.Line {
	t.Helper()
	l := local.NewLine(inside(from), p.n.Addr(), nil, wait)
	made := make(chan error)
	go func() {
		inside(from).Loop().Lock()
		defer inside(from).Loop().Unlock()
		made <- l.Dial(t.Context(), engine.DefaultConnTimeout, func(now time.Duration, c engine.ConnConfig) (*engine.Conn, error) {
			return inside(from).Engine().Dial(now, c, p.l.Addr(), record)
		})
	}()
	<-time.After(10 * time.Millisecond)
	inside(p.n).Loop().Lock()
	now := inside(p.n).Loop().Now()
	c, ok := p.l.Accept(now)
	if !ok {
		inside(p.n).Loop().Unlock()
		t.Fatal("nobody has connected")
	}
	c.Owner = local.NewLine(inside(p.n), 0, c, new(poll.List)) // who is told of it
	p.cs = append(p.cs, c)
	for _, b := range say {
		if err := c.Write(now, b); err != nil {
			t.Error(err)
		}
	}
	if end != nil {
		end(c, now)
	}
	inside(p.n).PollOnce(now, false)
	inside(p.n).Loop().Unlock()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	return l
}

func (p *impostor) close() {
	inside(p.n).Loop().Lock()
	defer inside(p.n).Loop().Unlock()
	now := inside(p.n).Loop().Now()
	for _, c := range p.cs {
		c.Close(now)
	}
	p.l.Close(now)
	inside(p.n).PollOnce(now, false)
}

// What a topology service may not say ends a subscription with an error that tells
// which it is, behind the events before, and so does each end of the connection.
func TestSubscribeAtImpostor(t *testing.T) {
	r, record := naming.AskRemote(&naming.Subscription{Range: stack.Range{Type: 100, Upper: 99}, Filter: frame.FilterPorts}, 0, 0)
	event := func(typ frame.EventType, of []byte, lower, upper uint32) []byte {
		s, err := frame.ParseSubscription(of, frame.LittleEndian)
		if err != nil {
			t.Fatal(err)
		}
		f := frame.TopologyEventFields{Type: typ, Lower: lower, Upper: upper, Port: 7, Node: 2, Subscription: s.Fields()}
		return f.Append(nil)
	}
	good := event(frame.Published, record, 5, 5)
	_, other := naming.AskRemote(&naming.Subscription{Range: stack.Range{Type: 100, Upper: 99}, Filter: frame.FilterPorts}, 0, 1)
	shutdown := func(c *engine.Conn, now time.Duration) { c.Close(now) }
	for _, c := range []struct {
		name string
		say  [][]byte
		end  func(*engine.Conn, time.Duration)
		want error
	}{
		{"short", [][]byte{good, good[:47]}, nil, stack.ErrTopology},
		{"long", [][]byte{good, append(slices.Clone(good), 0)}, nil, stack.ErrTopology},
		{"very long", [][]byte{good, make([]byte, frame.MaxPayload)}, nil, stack.ErrTopology},
		{"another's", [][]byte{good, event(frame.Published, other, 5, 5)}, nil, stack.ErrTopology},
		{"out of range", [][]byte{good, event(frame.Published, record, 100, 100)}, nil, stack.ErrTopology},
		{"inverted", [][]byte{good, event(frame.Withdrawn, record, 5, 4)}, nil, stack.ErrTopology},
		{"no type", [][]byte{good, event(4, record, 5, 5)}, nil, stack.ErrTopology},
		{"over", [][]byte{good, event(frame.TimedOut, record, 5, 5), good}, nil, os.ErrDeadlineExceeded},
		{"closes", [][]byte{good}, shutdown, io.EOF},
		{"aborts", [][]byte{good}, func(c *engine.Conn, now time.Duration) { c.Abort(now) }, syscall.ECONNRESET},
	} {
		inWard(t, 2, func(t *testing.T, all []ward) {
			n := all[0].Node
			p := newImpostor(t, all[1].Node)
			s := local.NewDistant(inside(n), stack.Range{Type: 100}, r, func(wait *poll.List) *local.Line {
				return p.dial(t, n, record, wait, c.end, c.say...)
			})
			if got := told(t, s, 1); got != "+5-5@2" {
				t.Errorf("%s: got %s", c.name, got)
			}
			for range 2 {
				if _, err := s.Next(t.Context()); !errors.Is(err, c.want) {
					t.Errorf("%s: got %v, want %v", c.name, err, c.want)
				}
			}
			s.Close()
			<-time.After(10 * time.Millisecond)
			p.close()
		})
	}
}
