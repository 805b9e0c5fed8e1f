// SPDX-License-Identifier: Apache-2.0

package remote

import (
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
	"github.com/utipc/utipc/stack/internal/feed"
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
	gone chan struct{} // of one place: a daemon is lost, or a socket of one
	*backend.Ending

	mu      sync.Mutex // guards what follows
	server  *clientConn
	pid     int // of the process that is the daemon; 0: not known
	welcome attach.Welcome
	met     bool          // a daemon is there
	there   chan struct{} // closed while it is, and has the sockets
	away    error         // why none is there
	sockets map[*Socket]struct{}
	callers map[backend.CallOptions][]*Packet // sockets of calls that are over
	closed  bool
	ends    sync.WaitGroup           // the node's goroutines, and what waits for its orderly end
	leaving map[*clientConn]struct{} // connections that are closed, and whose end the daemon has not answered
	unsent  socket.UnsentError       // of connections that are closed; without Err there is none

	closeDone chan struct{} // closed when Close is over
	closeErr  error         // what it returned
}

func newRemoteNode(path string, c Config) *Node {
	f := &Node{
		path: path, cfg: c, sockets: map[*Socket]struct{}{}, callers: map[backend.CallOptions][]*Packet{}, gone: make(chan struct{}, 1),
		there: make(chan struct{}), Ending: backend.NewEnding(), closeDone: make(chan struct{}),
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
		l.close()
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
	if f.met && !isDone(f.there) {
		close(f.there)
	}
}

// watch reads from the connection for management calls, for them and to learn of the
// daemon's end. It ends with the connection.
func (f *Node) watch(l *clientConn) {
	l.mu.Lock()
	w := l.enter(0)
	err := l.await(w, new(time.Time), func() bool { return false })
	l.leave(w)
	l.mu.Unlock()
	f.mu.Lock()
	f.met, f.away = false, err
	if isDone(f.there) {
		f.there = make(chan struct{})
	}
	closed := f.closed
	f.mu.Unlock()
	l.conn.Close()
	if closed || f.cfg.NoReattach {
		f.End(err)
		return
	}
	feed.Signal(f.gone)
}

// dial makes a connection, and says hello. fds says that answers will bring descriptors.
func (f *Node) dial(ctx context.Context, fds bool) (*clientConn, attach.Welcome, error) {
	c, err := attach.Dial(ctx, f.path)
	if err != nil {
		return nil, attach.Welcome{}, outOfOp(err)
	}
	l := newClientConn(c)
	l.fds = fds
	l.gone = f.gone
	h, data := attach.HelloRequest(0, f.cfg.features(), f.cfg.Program)
	a, err := l.exchange(ctx, new(time.Time), h, data)
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
	var sockets []*Socket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	server := f.server
	f.mu.Unlock()
	if again {
		select {
		case <-f.closeDone:
			return f.closeErr
		case <-ctx.Done():
			return backend.OpError("close", "tipc", nil, nil, ctx.Err())
		}
	}
	defer f.End(net.ErrClosed)
	defer close(f.closeDone)
	f.stop()
	for _, s := range sockets {
		var unsent *socket.UnsentError
		if errors.As(s.close("close", true), &unsent) {
			f.lost(unsent.Bytes, unsent.Err)
		}
	}
	server.close()
	done := make(chan struct{})
	go func() {
		f.ends.Wait()
		close(done)
	}()
	var over error
	select {
	case <-done:
	case <-ctx.Done():
		over = fmt.Errorf("not all was taken by the daemon, of %d connections: %w", f.cut(), context.Cause(ctx))
	}
	f.closeErr = f.unsentError(over)
	return f.closeErr
}
