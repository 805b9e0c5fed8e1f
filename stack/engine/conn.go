// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

// DefaultConnTimeout is how long a connection request waits for its answer.
const DefaultConnTimeout = 8 * time.Second

// MinConnReceiveLimit is the least number of bytes that may wait in a connection: the
// first window, and kernels' margin for it. Source: docs/spec/07-sockets.md §5.1.
const MinConnReceiveLimit = 512 << 10

// messageReceiveLimit takes its place with a peer that counts messages, which may be of
// any length: those of a window and one more.
const messageReceiveLimit = (512 + 1) * (frame.MaxPayload + recordCost)

// Times of connections. Source: docs/spec/07-sockets.md §4.2, §4.5.
const (
	leastTimeout  = 4 * time.Millisecond
	probeInterval = time.Hour
	retryPause    = 100 * time.Millisecond // after "overload", and some more
	owedPause     = 20 * time.Millisecond  // between tries to send what is owed
)

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=ConnState,ConnEnd -linecomment

// A ConnState is where a connection stands.
//
//	Dial ──► connecting ──(answer)──► established ◄── Accept
//	             │                         │
//	             └── refused, timeout ─► ended ◄── the peer closes, or is lost
//
// Close and Abort lead from each of them to closed.
type ConnState uint8

const (
	Connecting  ConnState = iota // connecting
	Established                  // established
	Ended                        // ended
	ConnClosed                   // closed
)

// A ConnEnd says how a connection ended, other than by Close and Abort here.
type ConnEnd uint8

const (
	EndRefused  ConnEnd = iota // refused
	EndShutdown                // closed by the peer
	EndReset                   // reset by the peer
	EndTimeout                 // no answer to the request
	EndLost                    // contact with the peer's node lost
	EndSilent                  // the peer left a probe without answer
	EndStreams                 // refused by a listener of streams
	EndMessages                // refused by a listener of messages
)

// NoAnswer reports whether there was no connection: the request was refused, or not answered.
func (w ConnEnd) NoAnswer() bool {
	return w == EndRefused || w == EndTimeout || w == EndStreams || w == EndMessages
}

// A ConnError is why a connection ended.
type ConnError struct {
	Why    ConnEnd
	Code   frame.ErrorCode // in the message that ended it; OK where there was none
	Peer   frame.SocketAddr
	Unsent int // bytes that Write took and that are lost, see Conn.Unsent
}

func (e *ConnError) Error() string {
	if e.Code == frame.OK || e.Why == EndShutdown {
		return fmt.Sprintf("engine: connection to %v: %v", e.Peer, e.Why)
	}
	return fmt.Sprintf("engine: connection to %v: %v: %v", e.Peer, e.Why, e.Code)
}

// What connections can find.
var (
	// ErrWindow means the peer has not read enough of what was sent before.
	ErrWindow = errors.New("engine: connection's window full")
	// ErrConnecting means the peer has not answered yet.
	ErrConnecting = errors.New("engine: not connected yet")
	// ErrSockets means the node has as many sockets as it may have, or no address yet.
	ErrSockets = errors.New("engine: no more sockets")
)

// A WindowFull is an ErrWindow that says how the connection stands. It is the
// connection's: its next Write may change it.
type WindowFull struct {
	Peer    frame.SocketAddr
	Unacked int  // blocks or messages that the peer has not acknowledged
	Window  int  // how many those may be before a Write waits
	Blocks  bool // of 1 KiB, else messages
}

func (w *WindowFull) Error() string {
	unit := "messages"
	if w.Blocks {
		unit = "KiB"
	}
	return fmt.Sprintf("engine: connection to %v: %d %s not acknowledged, window %d", w.Peer, w.Unacked, unit, w.Window)
}

// Unwrap returns ErrWindow.
func (w *WindowFull) Unwrap() error { return ErrWindow }

// connFull reports whether a Write failed for what passes: the window, the link or the
// node's memory. The connection's user hears of room, see connUser.
func connFull(err error) bool {
	return errors.Is(err, ErrWindow) || errors.Is(err, flowctl.ErrCongested) || err == ErrMemory
}

// A ConnConfig describes one end of a connection. Zero fields mean the defaults.
type ConnConfig struct {
	Importance   frame.Importance // of the request; the peer answers with its own for all the rest
	Stream       bool             // Read joins messages, and may take a part of one
	AnyKind      bool             // a listener of the other kind is not to refuse it, see kindTo
	Timeout      time.Duration    // of the request; default DefaultConnTimeout, at least 4 ms
	ReceiveLimit int              // bytes; default DefaultReceiveLimit, at least MinConnReceiveLimit
	NoDelay      bool             // of a stream: short messages are not collected, see SetNoDelay
	Account      *Account         // that it counts in, or nil
	Owner        any              // the owner's own word for the connection
}

// A Conn is one end of a connection: a socket with a number of its own, whose messages
// go to one other socket and come from there, in order and none lost as long as there
// is contact with its node. Flow control keeps what waits to be read within bounds, see
// flowctl.Connection. Source: docs/spec/07-sockets.md §4, §5.
type Conn struct {
	ConnConfig
	port     Port // its number, its queue, its place among senders
	end      ConnError
	peer     frame.SocketAddr
	name     frame.Service // that it was made by
	named    bool
	state    ConnState
	collects bool // a stream, and both nodes can
	housed   bool // its queue has a room

	flow    flowctl.Connection
	request *request // while connecting
	taken   int      // bytes already read of the first message in the queue, of a stream

	nagle flowctl.Nagle
	store *store // of what is held; nil: nothing

	node           *node // of the peer, while established
	before, behind *Conn // of those that lead there

	limit alarm // of the request's answer; then the next probe
	again alarm // the request, or what is owed, is sent again
	owed  owed
	asked bool // a probe was not answered yet
	acked bool // see Acknowledged
	late  bool // the peer has ended it: data that it sent before may come still

	watched bool     // its owner hears of its end though it has closed it, see WatchClose
	stuck   bool     // a Write found the window full
	due     callKind // of the user
	half    halves   // by CloseWrite, here and there

	back      *string   // see Returned; before the end, and after Close, see Unread; nil: nothing
	early     *earlyEnd // the peer's end has come, and may have overtaken data
	unsent    int       // see Unsent
	sentLost  uint64    // of unsent, what had stood on the link
	lingering int       // bytes it counts among those of closed connections, see mayLinger

	user   connUser  // nil: the owner hears of it by TakeReadyConns
	origin *Listener // that counts it, of one with a user; where it waits to be accepted; or nil
	ticket Ticket    // of a Conn with a user, or of the request, or of what is held
	full   WindowFull
}

// A request is a connection request that waits for an answer: our own as it was sent,
// or one that came to a Listener.
type request struct {
	f    frame.PayloadFields
	data []byte
	via  *node // whom it came from, of one that came
}

// Addr is the address of this end.
func (c *Conn) Addr() frame.SocketAddr { return c.port.Addr() }

// Peer is the address of the other end; while connecting, where the request went.
func (c *Conn) Peer() frame.SocketAddr { return c.peer }

// Name is the service that the connection was made by; ok is false if that was a
// socket's address.
func (c *Conn) Name() (a frame.Service, ok bool) { return c.name, c.named }

// State is where the connection stands.
func (c *Conn) State() ConnState { return c.state }

// Err is why the connection ended: *ConnError, or ErrClosed after Close and Abort; nil
// before.
func (c *Conn) Err() error {
	switch c.state {
	case Ended:
		return &c.end
	case ConnClosed:
		return ErrClosed
	}
	return nil
}

// End is why the connection ended other than by Close and Abort, whatever its state is; ok is
// false if it did not.
func (c *Conn) End() (end ConnError, ok bool) { return c.end, c.end != ConnError{} }

// Returned is what came back with the peer's end: the beginning of the first message that the
// peer had received and not read when it closed, at most frame.MaxReturned bytes, or "". It counts
// as what waits to be read until the connection is closed. Source: docs/spec/07-sockets.md §4.6.
func (c *Conn) Returned() string {
	if c.state != Ended {
		return ""
	}
	return c.goesBack()
}

// goesBack is what c.back has.
func (c *Conn) goesBack() string {
	if c.back == nil {
		return ""
	}
	return *c.back
}

// keepBack keeps the beginning of b in c.back.
func (c *Conn) keepBack(b []byte) {
	c.back = nil
	if len(b) > 0 {
		s := string(b[:min(len(b), frame.MaxReturned)])
		c.back = &s
	}
	c.port.recount()
}

// Unread says that the owner has read b, the first message that its user has not, or the beginning
// of that: Close and Abort return it to the peer, instead of what waits here. Of b at most
// frame.MaxReturned bytes are kept.
func (c *Conn) Unread(b []byte) {
	if c.state == Established {
		c.keepBack(b)
	}
}

// Window is what was sent and not acknowledged, and how much that may be before a Write
// waits, in blocks of 1 KiB or messages.
func (c *Conn) Window() (unacked, window int) { return c.flow.Unacked(), c.flow.Window() }

// Pending is the number of messages that wait to be read.
func (c *Conn) Pending() int { return c.port.Pending() }

// newConn makes a socket for one end of a connection, or nil.
func (e *Engine) newConn(k ConnConfig, number uint32) *Conn {
	if len(e.ports) >= maxPorts || e.addr == 0 {
		return nil
	}
	if k.ReceiveLimit == 0 {
		k.ReceiveLimit = DefaultReceiveLimit
	}
	if k.Timeout == 0 {
		k.Timeout = DefaultConnTimeout
	}
	k.ReceiveLimit, k.Timeout = max(k.ReceiveLimit, MinConnReceiveLimit), max(k.Timeout, leastTimeout)
	c := &Conn{ConnConfig: k}
	c.port = Port{PortConfig: PortConfig{Importance: k.Importance, Returnable: true, ReceiveLimit: k.ReceiveLimit, Account: k.Account}, e: e, number: number, conn: c}
	c.port.enter()
	c.limit.owner, c.again.owner, c.ticket.conn = c, c, c
	e.number(&c.port)
	return c
}

// SetReceiveLimit sets how many bytes may wait to be read, in the limits of newConn; 0 means the
// default. What the peer was offered it may still send: a lower limit holds as the peer hears of it.
func (c *Conn) SetReceiveLimit(bytes int) {
	if bytes == 0 {
		bytes = DefaultReceiveLimit
	}
	c.ReceiveLimit = max(bytes, MinConnReceiveLimit)
	c.port.ReceiveLimit = max(c.port.ReceiveLimit, c.ReceiveLimit)
	c.flow.SetLimit(c.ReceiveLimit)
}

// connected reports whether a port is one end of a connection, or waits for some, or is in
// a group or a probe's: it is not connectionless.
func (p *Port) connected() bool {
	return p.conn != nil || p.listener != nil || p.group != nil || p.probe != nil
}

// establish connects c to a socket of a node that is up.
func (c *Conn) establish(now time.Duration, n *node, peer frame.SocketAddr, imp frame.Importance) {
	e := c.port.e
	c.state, c.peer = Established, peer
	c.Importance, c.port.Importance = imp, imp
	blocks := n.caps.Has(frame.CapBlockFlowctl) && e.cfg.Capabilities.Has(frame.CapBlockFlowctl)
	c.flow = flowctl.NewConnection(blocks, c.port.ReceiveLimit)
	c.beginNagle(n)
	if !blocks {
		c.port.ReceiveLimit = max(c.port.ReceiveLimit, messageReceiveLimit)
	}
	c.node, c.behind = n, n.conns
	if n.conns != nil {
		n.conns.before = c
	}
	n.conns = c
	n.open++
	n.traffic.Connections++
	if c.named {
		e.services.known(c.name.Type).Connections++
	}
	e.alarms.cancel(&c.again)
	e.alarms.set(&c.limit, now+probeInterval)
	e.count.Connected++
}

// detach ends what c waits for, but for what is owed.
func (c *Conn) detach(now time.Duration) {
	e := c.port.e
	c.endLinger()
	e.alarms.cancel(&c.limit)
	e.alarms.cancel(&c.again)
	c.port.promise(0)
	c.owed, c.request, c.early = 0, nil, nil
	c.leaveLine(now)
	if n := c.node; n != nil {
		n.open--
		if c.before == nil {
			n.conns = c.behind
		} else {
			c.before.behind = c.behind
		}
		if c.behind != nil {
			c.behind.before = c.before
		}
		c.node, c.before, c.behind = nil, nil, nil
	}
}

// finish ends a connection by what has happened to it. What came before can be read
// still; of a closed one that had still something to send nothing is left.
func (c *Conn) finish(now time.Duration, why ConnEnd, code frame.ErrorCode) {
	c.end = ConnError{why, code, c.peer, 0}
	if c.state == ConnClosed {
		c.release(now)
		return
	}
	c.detach(now)
	c.loseHeld()
	c.state, c.end.Unsent = Ended, c.unsent
	c.port.e.conns.tell(c, callEnded)
}

// release gives back everything of a closed connection.
func (c *Conn) release(now time.Duration) {
	c.detach(now)
	c.loseHeld()
	if c.watched {
		c.port.e.conns.tell(c, callEnded)
	}
	c.dropUnread()
	c.port.retire(now)
	if l := c.origin; l != nil {
		c.origin = nil
		l.forget(c.peer.Node)
	}
}

// dropUnread drops what waits to be read.
func (c *Conn) dropUnread() {
	p := &c.port
	for ; p.queue.Len() > 0; p.queue.Drop() {
		if b := p.queue.At(0).lent; b != nil {
			b.Release()
		}
	}
	p.data.clear()
	c.moveOut(true)
	p.queued, c.taken, c.back = 0, 0, nil
	p.recount()
}

// overdraw ends a connection whose owner holds too much, of all of which this one holds
// most. What waits to be read is dropped; both ends read a reset.
func (c *Conn) overdraw(now time.Duration) {
	c.dropUnread()
	switch c.state {
	case Connecting:
		c.finish(now, EndReset, frame.Overload)
	case Established:
		c.finish(now, EndReset, frame.Overload)
		c.pay(now, owedOverload)
	case ConnClosed:
		c.cutShort(now)
	}
}

// loseConns ends the connections that lead to a node with which contact is lost.
// Nothing of it goes on the wire. Source: docs/spec/07-sockets.md §4.6.
func (e *Engine) loseConns(now time.Duration, n *node) {
	for c := n.conns; c != nil; c = n.conns {
		c.finish(now, EndLost, frame.NoNode)
	}
}

// leaveLine ends the waiting of what the connection sends on its own account.
func (c *Conn) leaveLine(now time.Duration) {
	if c.ticket.serial != 0 {
		c.port.e.Quit(now, &c.ticket)
	}
}

// ring implements ringer.
func (c *Conn) ring(now time.Duration, a *alarm) {
	switch {
	case a == &c.again && c.state == Connecting:
		c.sendRequest(now)
	case a == &c.again:
		c.pay(now, c.owed)
	case c.lingers():
		c.probeLate(now)
	case c.early != nil:
		c.askDrained(now)
	case c.state == Connecting:
		c.finish(now, EndTimeout, frame.OK)
	case c.state == Established:
		c.probe(now)
	}
}
