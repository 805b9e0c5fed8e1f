// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/stack/internal/backend"

// A Poller tells which of many sockets may be read, so that a few goroutines serve
// thousands of them: add each once, then read those that Wait and Take hand out with the
// Try calls until these fail with syscall.EAGAIN. A socket is handed out again when
// something has come since, when it has ended, or was closed; now and then without
// reason. Nobody else is to read a socket that was added.
//
//	for {
//		k, err := p.Wait(ready)                // drives the node while it waits
//		for _, s := range ready[:k] {
//			serve(s.Owner)
//		}
//	}
//
// A goroutine that sends on behalf of others calls Enter before and Leave after that, and
// Take in between: what it has made ready on this node it serves itself, and nobody is
// woken for it. Between the two it must not wait. All methods may be called by any number
// of goroutines.
type Poller struct{ b backend.Poller }

// A Pollable is a socket that can be added to a Poller: *PacketConn, *Conn, *Group or
// *Listener.
type Pollable interface {
	Poll(p backend.Poller, owner any) *Polled
}

func (c *PacketConn) Poll(p backend.Poller, owner any) *Polled { return c.b.Poll(p, owner) }
func (c *Conn) Poll(p backend.Poller, owner any) *Polled       { return c.b.Poll(p, owner) }
func (g *Group) Poll(p backend.Poller, owner any) *Polled      { return g.b.Poll(p, owner) }
func (l *Listener) Poll(p backend.Poller, owner any) *Polled   { return l.b.Poll(p, owner) }

// NewPoller makes a Poller of the node's sockets. Errors: net.ErrClosed; errors.ErrUnsupported
// of an attached node.
func (n *Node) NewPoller() (*Poller, error) {
	b, err := n.b.NewPoller()
	if err != nil {
		return nil, err
	}
	return &Poller{b}, nil
}

// Add makes the Poller hand out s, as Polled with that owner: at once, and from then on
// whenever there is something to read. A socket of another node, or one that has a Poller,
// is a mistake that panics.
func (p *Poller) Add(s Pollable, owner any) *Polled { return s.Poll(p.b, owner) }

// Wait waits until sockets are ready, and takes as many as ready has room for, in the
// order in which they became so. While it waits it may drive the node, as every call does.
// Errors, inside *net.OpError: net.ErrClosed, when the Poller or the node is closed.
func (p *Poller) Wait(ready []*Polled) (int, error) { return p.b.Wait(hidden(ready)) }

// Take is Wait that does not wait: without ready sockets it returns 0.
func (p *Poller) Take(ready []*Polled) int { return p.b.Take(hidden(ready)) }

// PollOnce is Take that first drives the node once: it takes what the devices have, and sends what is to be sent. It is
// for a program that spins and calls it again and again. As long as it does, no goroutine of the node's is woken for
// what comes. Before the program sleeps it calls Rest, else nobody looks at the devices for up to a millisecond.
func (p *Poller) PollOnce(ready []*Polled) int { return p.b.PollOnce(hidden(ready)) }

// Rest has the node driven by itself at once, as no call of PollOnce comes soon. See Notify for what wakes the program.
func (p *Poller) Rest() { p.b.Rest() }

// Notify makes the Poller call f when a socket has become ready, whoever drives the node then; nil ends that. f must
// not wait, and must not call the node or its sockets, as the node is locked. It may be called without reason.
func (p *Poller) Notify(f func()) { p.b.Notify(f) }

// Close ends the calls of Wait with net.ErrClosed; the sockets stay as they are. Closing
// twice is harmless.
func (p *Poller) Close() error { return p.b.Close() }
