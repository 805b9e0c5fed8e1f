// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/socket"
)

// A Config is a stack.AttachConfig, whose documentation holds. The compiler keeps the two alike:
// the one is converted to the other.
type Config struct {
	SyncErrors bool
	NameWait   time.Duration
	Ring       socket.RingMode
	Wait       socket.WaitMode
	Program    string
	NoReattach bool
}

// Attach makes this program a client of the daemon at path. Errors: those of Attach, bare.
func Attach(ctx context.Context, path string, c Config) (*Node, error) {
	f := newRemoteNode(path, c)
	err := c.check()
	if err == nil {
		err = f.connect(ctx)
	}
	if err != nil {
		f.stop()
		return nil, err
	}
	f.announce()
	if !c.NoReattach {
		f.ends.Go(f.repair)
	}
	return f, nil
}

// A Node is what is behind an attached stack.Node: a connection for management calls, and what is
// open. Each socket, and each subscription, has a connection of its own.
type Node struct {
	path string
	cfg  Config

	ctx  context.Context // done when the node is closed
	stop context.CancelFunc
	*backend.Ending

	waitLock // guards what follows
	server   *clientConn
	pid      int // of the process that is the daemon; 0: not known
	welcome  attach.Welcome
	met      bool  // a daemon is there
	there    bool  // it is, and has the sockets
	gone     bool  // a daemon is lost, or a socket of one, and repair has not looked yet
	over     error // why the node is over, or none can be made any more
	away     error // why none is there
	sockets  map[*Socket]struct{}
	callers  map[backend.CallOptions][]*Packet // sockets of calls that are over
	closed   bool
	ends     sync.WaitGroup           // the node's goroutines, and what waits for its orderly end
	leaving  map[*clientConn]struct{} // connections that are closed, and whose end the daemon has not answered
	unsent   socket.UnsentError       // of connections that are closed; without Err there is none

	left      bool  // all that ends counts is over
	closeDone bool  // Close is over
	closeErr  error // what it returned
}

func newRemoteNode(path string, c Config) *Node {
	f := &Node{
		path: path, cfg: c, sockets: map[*Socket]struct{}{}, callers: map[backend.CallOptions][]*Packet{}, Ending: backend.NewEnding(),
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// connect makes the connection for management calls.
func (f *Node) connect(ctx context.Context) error {
	l, w, err := f.dial(ctx, false)
	if err != nil {
		return err
	}
	var pid int
	if who, err := l.conn.Credentials(); err == nil {
		pid = who.PID
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		l.conn.Close()
		return net.ErrClosed
	}
	f.server, f.pid, f.welcome, f.met = l, pid, w, true
	f.ends.Go(func() { f.watch(l) })
	return nil
}

// announce lets the calls go on that wait for a daemon.
func (f *Node) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.met {
		f.there = true
		f.signalAll()
	}
}

// watch reads from the connection for management calls, for them and to learn of the
// daemon's end. It ends with the connection.
func (f *Node) watch(l *clientConn) {
	l.mu.Lock()
	c := wait{over: &l.over, role: &l.reads, messages: true}
	err := l.await(&c, func() bool { return false }, l.read)
	l.leave(&c)
	l.mu.Unlock()
	f.mu.Lock()
	f.met, f.there, f.away = false, false, err
	closed := f.closed
	f.mu.Unlock()
	l.conn.Close()
	if closed || f.cfg.NoReattach {
		f.end(err)
		return
	}
	f.noteGone()
}

// dial makes a connection, and says hello. fds says that answers will bring descriptors.
func (f *Node) dial(ctx context.Context, fds bool) (*clientConn, attach.Welcome, error) {
	c, err := attach.Dial(ctx, f.path)
	if err != nil {
		return nil, attach.Welcome{}, outOfOp(err)
	}
	l := newClientConn(c)
	l.fds = fds
	l.gone = f.noteGone
	h, data := attach.HelloRequest(0, f.cfg.features(), f.cfg.Program)
	a, err := l.exchange(ctx, nil, h, data)
	var w attach.Welcome
	if err == nil {
		w, err = attach.ParseWelcome(&a.Header, a.data)
		if err == a.Errno && len(a.data) > 0 { // a refusal, and a text
			err = fmt.Errorf("%w: %s", err, printable.Text(a.data))
		}
	}
	if err != nil {
		l.close()
		return nil, w, err
	}
	l.offers = w.Features
	l.counts = w.Features&attach.FeatureCounts != 0
	return l, w, nil
}

// outOfOp is what package net says inside of its own error.
func outOfOp(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}

// line is the connection for management calls. Errors: net.ErrClosed.
func (f *Node) line() (*clientConn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, net.ErrClosed
	}
	return f.server, nil
}

// NewPoller implements backend.Node.
func (f *Node) NewPoller() (backend.Poller, error) {
	return nil, backend.OpError("poll", "tipc", nil, nil, errors.ErrUnsupported)
}

// NewAccount implements backend.Node: of an Account that nothing counts in.
func (f *Node) NewAccount(c hosting.AccountConfig) *hosting.Account {
	return hosting.OpenAccount(new(sync.Mutex), c)
}

// Close implements backend.Node: it ends everything of this program's; the daemon goes on. It waits for what was sent
// to be taken by the daemon, until ctx is done.
func (f *Node) Close(ctx context.Context) error {
	f.mu.Lock()
	again := f.closed
	f.closed = true
	f.over = cmp.Or(f.over, net.ErrClosed)
	f.signalAll()
	var sockets []*Socket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	server := f.server
	f.mu.Unlock()
	if again {
		if err := f.until(ctx, &f.closeDone); err != nil {
			return backend.OpError("close", "tipc", nil, nil, err)
		}
		return f.closeErr
	}
	defer f.end(net.ErrClosed)
	defer f.note(&f.closeDone)
	f.stop()
	for _, s := range sockets {
		var unsent *socket.UnsentError
		if errors.As(s.close("close", true), &unsent) {
			f.lost(unsent.Bytes, unsent.Err)
		}
	}
	server.close()
	go func() {
		f.ends.Wait()
		f.note(&f.left)
	}()
	var over error
	if f.until(ctx, &f.left) != nil {
		over = fmt.Errorf("not all was taken by the daemon, of %d connections: %w", f.cut(), context.Cause(ctx))
	}
	f.closeErr = f.unsentError(over)
	return f.closeErr
}

// until waits until note is called with what, or ctx is done, whose error it returns.
func (f *Node) until(ctx context.Context, what *bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := wait{ctx: ctx}
	defer f.leave(&c)
	return f.await(&c, func() bool { return *what }, nil)
}

// note ends the calls of until.
func (f *Node) note(what *bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*what = true
	f.signalAll()
}

// end ends the node, for the first reason that is given.
func (f *Node) end(why error) {
	f.mu.Lock()
	f.over = cmp.Or(f.over, why)
	f.signalAll()
	f.mu.Unlock()
	f.End(why)
}
