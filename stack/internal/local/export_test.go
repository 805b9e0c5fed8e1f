// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"sync"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
)

// What tests see that open nodes by package stack, and so cannot be of this package.

const (
	HandlersPerPoll = handlersPerPoll
	Batch           = batch
	PollAfterSends  = pollAfterSends
)

var MapMemory = mapMemory

func (n *Node) Loop() *poll.Loop       { return &n.loop }
func (n *Node) Engine() *engine.Engine { return n.eng }
func (n *Node) Arena() *netdev.Arena   { return n.arena }
func (n *Node) IdleJobs() *sync.Pool   { return &n.idleJobs }

// Opened is how many connections for subscriptions at other nodes, subscriptions and sockets
// there are. The node's lock is held in this and what follows.
func (n *Node) Opened() (lines, subs, sockets int) { return len(n.lines), len(n.subs), len(n.sockets) }

// Calls are those that wait, by what they do.
func (n *Node) Calls() map[string]poll.List {
	all := map[string]poll.List{"starting": n.starting}
	if !n.closing {
		all["draining"] = n.draining
	}
	for s := range n.sockets {
		all["writing"] = append(all["writing"], s.writes().writing...)
		if r, ok := s.(interface{ reading() poll.List }); ok {
			all["reading"] = append(all["reading"], r.reading()...)
		}
	}
	for s := range n.subs {
		all["subscribers"] = append(all["subscribers"], s.wait...)
	}
	for p := range n.pollers {
		all["pollers"] = append(all["pollers"], p.wait...)
	}
	return all
}

func (r *readHalf) reading() poll.List { return r.readers }

func (n *Node) IsClosing() bool   { return n.closing }
func (n *Node) IsTrying() bool    { return n.trying != nil }
func (n *Node) AwaitedTypes() int { return len(n.awaited) }

// Woken are the names that appeared of those of a type that calls wait for, since it was asked last.
func (n *Node) Woken(typ uint32) (names []string) {
	for _, w := range n.awaited[typ] {
		if w.appeared {
			names = append(names, w.name.String())
		}
		w.appeared = false
	}
	return names
}

// AwaitName has a call wait for a name.
func (n *Node) AwaitName(d backend.Dest) { n.awaitName(&write{dest: d}, 1) }

func (n *Node) CallAwaiting(r frame.Range) { n.callAwaiting(r) }

// Device is that of the first bearer.
func (n *Node) Device() netdev.Device { return n.attached[0].Device }

// Narrow makes the next poll take one frame of the first bearer.
func (n *Node) Narrow() { n.attached[0].width = 0 }

func (n *Node) PollOnce(now time.Duration, receive bool) (busy bool) { return n.pollOnce(now, receive) }
func (n *Node) SendTime() time.Duration                              { return n.sendTime() }
func (n *Node) AfterSend(now time.Duration, k int)                   { n.afterSend(now, k) }

func (n *Node) Send(now time.Duration, c *Packet, d backend.Dest, data []byte) error {
	return n.send(now, c, d, data)
}

func (n *Node) Submit(c *Packet, d backend.Dest, data []byte) error { return n.submit(c, d, data) }

func (n *Node) Retry(ctx context.Context, c *Packet, d backend.Dest, b []byte, err error) error {
	return n.retry(ctx, c, d, b, err)
}

// HasMemory reports whether a Buffer of so many bytes could be made at once.
func (c *Packet) HasMemory(size int) bool {
	m := blank{From: c, Size: size}
	err := m.put(c.n.loop.Now(), backend.Dest{}, nil)
	m.Lent.Release()
	return err == nil
}

func (c *Packet) Port() *engine.Port     { return c.port }
func (c *Packet) Readers() *poll.List    { return &c.readers }
func (c *Packet) Writers() poll.List     { return c.writing }
func (c *Packet) SetWriteBy(t time.Time) { c.writeBy = t }

// Waiting is how many events wait.
func (s *Subscription) Waiting() int { return s.from.pending() }

// A Line is a connection to a topology service.
type Line = topologyLine

func NewLine(n *Node, at frame.NodeAddr, c *engine.Conn, wait *poll.List) *Line {
	return &topologyLine{n: n, at: at, c: c, wait: wait}
}

func (l *topologyLine) Dial(ctx context.Context, timeout time.Duration, how func(time.Duration, engine.ConnConfig) (*engine.Conn, error)) error {
	return l.dial(ctx, timeout, how)
}

func (l *topologyLine) Send(ctx context.Context, by time.Time, try func(now time.Duration) error) error {
	return l.send(ctx, by, try)
}

func (l *topologyLine) Read(b []byte) (size int, ok bool) { return l.read(b) }
func (l *topologyLine) Ended() error                      { return l.ended() }
func (l *topologyLine) Close()                            { l.close() }

// NewDistant makes a subscription at another node that asks for what is remote, on the line that dial makes.
func NewDistant(n *Node, r frame.Range, asks naming.Remote, dial func(wait *poll.List) *Line) *Subscription {
	s := &Subscription{n: n, r: r}
	d := &distant{s: s, asked: asks}
	d.line = dial(&s.wait)
	s.from = d
	return s
}

// An Inquiry is what an audit asks of a node.
type Inquiry = inquiry

// NewInquiry makes one that asks for what is remote, and takes six events at most, on the line
// that dial makes.
func NewInquiry(n *Node, at frame.NodeAddr, timeout time.Duration, remote naming.Remote, dial func(wait *poll.List) *Line) *Inquiry {
	q := &inquiry{
		audit: &audit{n: n, AuditConfig: admin.AuditConfig{Timeout: timeout}}, at: at,
		asked: map[uint64]naming.Remote{0: remote}, told: census{count: map[naming.Binding]int{}}, left: 6,
	}
	q.line = dial(&q.wait)
	return q
}

func (q *inquiry) Run(ctx context.Context) error { return q.converse(ctx, nil) }
func (q *inquiry) Told() int                     { return q.told.all }
func (q *inquiry) Line() *Line                   { return q.line }
