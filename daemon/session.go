// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/stack"
)

// A session is one connection of a program.
//
//	new ──(hello)──► greeted ──(socket, join)──► a TIPC socket
//	                    │  └────(subscribe, stream)──► one of those
//	                    └─(call, ping: as it likes, in all of them)
//
// Its goroutine reads and does what the records ask for; others write to it, too.
type session struct {
	srv    *Server
	c      *attach.Conn
	who    attach.Credentials
	client *client
	ctx    context.Context // done when the session ends
	stop   context.CancelFunc

	// Of the goroutine that reads.
	program   string
	greeted   bool
	features  uint64 // granted
	gather    gather
	turn      int // records since the last pause
	turnBegan time.Time
	bulk      bool           // the turn before was short: it sends without pause
	sparse    uint64         // Server.sparse when it was looked at last
	yields    time.Time      // until then it rests behind each turn
	inside    bool           // between enter and leave
	buf       *attach.Buffer // with the data of the record that is dealt with, or nil
	options   []attach.Option
	rings     ringState

	orderly atomic.Bool // the daemon ends: what was written is sent, and connections end in order
	failed  atomic.Bool // its socket takes no more records, and the program is told so

	mu    sync.Mutex // guards the rest; no call under it waits
	port  *port      // once it is a TIPC socket
	other bool       // it is a subscription or a stream
	calls map[uint32]context.CancelFunc
	ended bool
}

// newSession makes one of a connection that was accepted. Errors: *LimitError,
// net.ErrClosed.
func (s *Server) newSession(c *attach.Conn, who attach.Credentials) (*session, error) {
	x := &session{srv: s, c: c, who: who}
	var err error
	if x.client, err = s.accounts.enter(x, who, &s.cfg.Quotas); err != nil {
		s.counters.overLimit.Add(1)
		return nil, err
	}
	x.ctx, x.stop = context.WithCancel(s.ctx) // before Shutdown can see it
	if err := s.register(x); err != nil {
		x.stop()
		x.client.leave(x)
		return nil, err
	}
	return x, nil
}

// start begins to read.
func (x *session) start() { go x.run() }

// abortedHandshake undoes newSession for one that has ended before it was started.
func (x *session) abortedHandshake() {
	x.end(false)
	x.client.leave(x)
	x.srv.unregister(x)
}

// errBroken means a program that did not keep to the protocol.
var errBroken = errors.New("daemon: the protocol was broken")

// run reads until the connection ends.
func (x *session) run() {
	defer x.srv.unregister(x)
	defer x.client.leave(x)
	err := x.greet()
	for err == nil {
		err = x.next()
	}
	x.srv.counters.descriptors.Add(x.c.Refused())
	switch {
	case errors.Is(err, errBroken), errors.Is(err, attach.ErrRecord):
		x.srv.counters.broken.Add(1)
		x.client.broken.Add(1)
		x.srv.refusals.tell("records", slog.String("client", x.who.String()), slog.Any("err", err))
		h := attach.Header{Op: attach.OpGone, Errno: syscall.EPROTO}
		x.c.TryWrite(&h, []byte(err.Error()))
	}
	x.end(x.orderly.Load() && err == io.EOF)
	x.gather.drop(x.client)
	x.dropRing()
}

// greet reads the hello, unless it is not needed.
func (x *session) greet() error {
	if x.greeted {
		return nil
	}
	x.c.SetReadDeadline(time.Now().Add(x.srv.cfg.HelloTimeout))
	var h attach.Header
	b := scratches.Get().(*scratch)
	defer scratches.Put(b)
	k, fd, err := x.c.ReadFD(&h, b[:])
	if err != nil {
		return err
	}
	x.count(k)
	if h.Op.Plain() {
		x.c.SetReadDeadline(time.Time{})
		return x.servePlain(&h, b[:k], fd)
	}
	if fd >= 0 {
		unix.Close(fd)
		x.srv.counters.descriptors.Add(1)
	}
	program, err := attach.ParseHello(&h, b[:k])
	switch {
	case errors.Is(err, attach.ErrVersion):
		r, text := attach.VersionReply(&h)
		x.c.TryWrite(&r, text)
		x.srv.refusals.tell("version", slog.String("client", x.who.String()), slog.Any("err", err))
		return err
	case err != nil:
		return fmt.Errorf("%w: no hello, %v", errBroken, h.Op)
	}
	if !x.srv.cfg.Policy.Allows(UseRight, x.who) && !x.srv.cfg.Policy.Allows(ShowRight, x.who) {
		x.refuse("hello")
		r := h.Reply(syscall.EPERM)
		x.c.TryWrite(&r, []byte("neither sockets nor calls are allowed"))
		return syscall.EPERM
	}
	x.program, x.greeted, x.features = program, true, h.Wide&features
	r, data := attach.HelloReply(&h, attach.Welcome{
		Features: features, Node: x.srv.node.Addr(), Identity: x.srv.node.Identity(), Program: x.srv.cfg.Program,
	})
	x.c.SetReadDeadline(time.Time{})
	x.client.named(program)
	return x.c.Write(&r, data)
}

// How much of one connection is read before others have their turn.
const (
	turnRecords = 32
	turnBytes   = 256 << 10
	turnQuick   = time.Millisecond       // a turn that took longer is none of somebody who floods
	turnPause   = 500 * time.Microsecond // after one, while others send now and then
	turnYields  = 5 * time.Millisecond   // how long others count who did
)

// next reads a record and does what it asks for.
func (x *session) next() error {
	var h attach.Header
	b, err := x.c.ReadPooled(&h)
	if err != nil {
		if isCorruptRing(err) {
			err = x.corruptRing(err)
		}
		return err
	}
	x.buf = b
	k := len(b.Data)
	x.count(k)
	x.enter()
	err = x.handle(&h, b.Data)
	x.leave()
	x.releaseBuf()
	if err != nil {
		return err
	}
	x.yield(k)
	return nil
}

// keep returns data, of the record that was read, in memory of its own size: who waits with
// it for long does not hold a whole Buffer.
func (x *session) keep(data []byte) []byte {
	data = append([]byte(nil), data...)
	x.releaseBuf()
	return data
}

func (x *session) releaseBuf() {
	if x.buf != nil {
		x.buf.Release()
		x.buf = nil
	}
}

// enter begins what makes sockets ready that the session delivers to itself, in leave.
// In between it does not wait: who has to leaves before.
func (x *session) enter() {
	hosting.Enter(x.srv.poller)
	x.inside = true
}

func (x *session) leave() {
	if x.inside {
		x.inside = false
		x.srv.deliver()
		hosting.Leave(x.srv.poller)
	}
}

// yield lets others have their turn when this connection had much of its own, or its
// process more than it may.
func (x *session) yield(bytes int) {
	x.turn += 1 + bytes*turnRecords/turnBytes
	if pause := x.client.pace.take(); pause > 0 {
		x.client.slowed.Add(1)
		x.srv.counters.slowed.Add(1)
		x.rest(pause)
		x.turn = 0
	}
	if x.turn >= turnRecords {
		x.endTurn()
	}
}

// endTurn lets others have their turn, if this one was short. While there are others that
// send now and then it ends with a pause: a program that sends without pause takes the
// processor from them outside of the daemon as well, until its sends have to wait. Those
// that all send without pause do not wait for each other.
func (x *session) endTurn() {
	x.turn = 0
	now, sparse := time.Now(), x.srv.sparse.Load()
	quick := now.Sub(x.turnBegan) < turnQuick
	if sparse != x.sparse && x.bulk { // else they may be its own
		x.yields = now.Add(turnYields)
	}
	x.bulk, x.sparse = quick, sparse
	if quick {
		x.srv.yielder.take()
		if now.Before(x.yields) {
			x.rest(turnPause)
		}
		now = time.Now()
	}
	x.turnBegan = now
}

// rest waits, or until the session ends.
func (x *session) rest(d time.Duration) { rest(x.ctx, d) }

// rest waits, or until ctx is done.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// count counts a record that came.
func (x *session) count(bytes int) {
	if !x.bulk {
		x.srv.sparse.Add(1)
	}
	for _, c := range [...]*counters{&x.client.counters, &x.srv.counters} {
		c.records.Add(1)
		c.bytesIn.Add(uint64(bytes))
	}
}

// write waits for room and writes a record: an answer, or what goes before messages that
// are not yet written. To a program that reads no more it writes nothing. Errors: that the
// session has ended.
func (x *session) write(h *attach.Header, data []byte) error {
	err := x.c.TryWrite(h, data)
	if err == syscall.EAGAIN {
		x.leave()
		err = x.c.Write(h, data)
	}
	if errors.Is(err, syscall.EPIPE) {
		return nil // it reads no more; what it has sent before counts all the same
	}
	return err
}

// put waits for room and writes a record that is no message; a goroutine calls it that is
// not the one that reads. What cannot be written ends the session: the program would wait
// for it for ever. Errors: that the program has gone, or as of fail.
func (x *session) put(h *attach.Header, data []byte) error {
	err := x.c.Write(h, data)
	if err != nil {
		x.fail(err)
	}
	return err
}

// fail ends a session whose socket takes no more records. A program that is there still is
// told why; where it has no room for that now it has lingerTime to read.
func (x *session) fail(err error) {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) {
		x.end(false)
		return
	}
	if x.failed.Swap(true) {
		return
	}
	x.srv.refusals.tell("write", slog.String("client", x.who.String()), slog.Any("err", err))
	h := attach.Header{Op: attach.OpGone, Errno: stack.Errno(err)}
	text := []byte(err.Error())
	if x.c.TryWrite(&h, text) != syscall.EAGAIN {
		x.end(false)
		return
	}
	x.srv.wg.Go(func() {
		x.c.SetWriteDeadline(time.Now().Add(lingerTime))
		x.c.Write(&h, text)
		x.end(false)
	})
}

// end ends the session: its socket is closed, in order or not, what is under way ends, and
// the connection is closed.
func (x *session) end(orderly bool) {
	x.mu.Lock()
	again := x.ended
	x.ended = true
	p := x.port
	x.mu.Unlock()
	if again {
		return
	}
	x.stop()
	if p != nil {
		p.close(orderly)
	}
	x.c.Close()
}
