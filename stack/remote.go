// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/printable"
)

// DefaultSocket is where the daemon listens unless $UTIPC_SOCKET, or its own settings, say
// otherwise.
const DefaultSocket = "/run/utipc/utipc.sock"

// An AttachConfig is how a program uses the daemon; its zero value means the defaults.
type AttachConfig struct {
	// SyncErrors makes every send wait for the daemon's answer, and so return its own error.
	// Otherwise data is sent without waiting, and an error is reported: see Attach.
	// SocketConfig.SyncErrors says so for one socket.
	SyncErrors bool
	// NameWait is how long a send waits for a name that nobody has bound, for sockets that do
	// not say; 0: as the daemon is set, negative: not at all.
	NameWait time.Duration
	// Ring and Wait say how data comes from the daemon and goes there: Wait of Spin looks at
	// a ring without end while a call reads, and owns a core; Adaptive for 50 µs where there
	// is a ring; Sleep never.
	Ring RingMode
	Wait WaitMode
	// Program is how the daemon's lists call this program; empty: its file's name.
	Program string
	// NoReattach has the node end when the daemon ends, as a tool that looks at one daemon
	// wants it: every call fails with a *GoneError from then on, and Node.Done is closed.
	NoReattach bool
}

// Attach makes this program a client of its host's daemon, which listens at path; empty:
// at $UTIPC_SOCKET, or at DefaultSocket. What comes back is a Node as Open's: the same
// methods, with the daemon's address, on which this program has sockets of its own.
//
// Names, connections and options wait for the daemon's answer. Data does not: a message
// that waits for room is taken as soon as it lies between program and daemon, where there
// is room for some 200 KiB. What the daemon then cannot send is reported, and the sends
// after it are not touched: see PacketConn.NextReport. For a connection an error is its
// end, which the next Write returns. With SyncErrors each send waits.
//
// The node outlives the daemon: it attaches to the one that comes next at path by itself, and
// makes its sockets again, with their names, options, deadlines and groups, and with other
// addresses. While no daemon is there,
//
//   - calls of listeners, packet sockets, groups, active ports and subscriptions wait, as far
//     as their deadline or context allows, and so does what makes a socket or connects; the
//     Try calls fail with syscall.EAGAIN;
//   - connections end with a *GoneError, which is syscall.ECONNRESET, and so do captures,
//     subscriptions at another node, and a Call whose answer had not come;
//   - calls that ask how things stand, or change that, fail with a *GoneError; those that have
//     no error, as Links, return nothing.
//
// Subscriptions report every binding that they had reported as withdrawn, groups with
// GroupConfig.Events their members as left, and a Watch DaemonLost and DaemonBack. A daemon
// that refuses this program ends the node with a *ReattachError; one that refuses a single
// socket ends that. With AttachConfig.NoReattach the node ends with the daemon.
//
// docs/attach.md has the differences to Open, and the protocol. Attach itself does not wait
// for a daemon. Errors, inside *net.OpError: those of the system, as syscall.ENOENT and
// ECONNREFUSED where no daemon is, EACCES where one may not connect; *attach.VersionError;
// syscall.EPERM, EMFILE and EUSERS where the daemon refuses; the context's.
func Attach(ctx context.Context, path string) (*Node, error) { return AttachConfig{}.Attach(ctx, path) }

// Attach is stack.Attach with options.
func (c AttachConfig) Attach(ctx context.Context, path string) (*Node, error) {
	path = cmp.Or(path, os.Getenv("UTIPC_SOCKET"), DefaultSocket)
	c.Program = cmp.Or(c.Program, filepath.Base(os.Args[0]))
	f := newRemoteNode(path, c)
	err := c.check()
	if err == nil {
		err = f.connect(ctx)
	}
	if err != nil {
		f.stop()
		return nil, opError("attach", "tipc", nil, &net.UnixAddr{Net: "unixpacket", Name: path}, err)
	}
	f.announce()
	if !c.NoReattach {
		f.ends.Go(f.repair)
	}
	return &Node{f}, nil
}

// A remoteNode is what an attached Node is: a connection for management calls, and what is
// open. Each socket, and each subscription, has a connection of its own.
type remoteNode struct {
	path string
	cfg  AttachConfig

	ctx  context.Context // done when the node is closed
	stop context.CancelFunc
	gone chan struct{} // of one place: a daemon is lost, or a socket of one
	*ending

	mu      sync.Mutex // guards what follows
	server  *clientConn
	welcome attach.Welcome
	met     bool          // a daemon is there
	there   chan struct{} // closed while it is, and has the sockets
	away    error         // why none is there
	sockets map[*remoteSocket]struct{}
	callers []*remotePacket // sockets of calls that are over
	closed  bool
	ends    sync.WaitGroup           // the node's goroutines, and what waits for its orderly end
	leaving map[*clientConn]struct{} // connections that are closed, and whose end the daemon has not answered
	unsent  UnsentError              // of connections that are closed; without Err there is none
}

func newRemoteNode(path string, c AttachConfig) *remoteNode {
	f := &remoteNode{
		path: path, cfg: c, sockets: map[*remoteSocket]struct{}{}, gone: make(chan struct{}, 1),
		there: make(chan struct{}), ending: newEnding(),
	}
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// connect makes the connection for management calls.
func (f *remoteNode) connect(ctx context.Context) error {
	l, w, err := f.dial(ctx, false)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		l.close()
		return net.ErrClosed
	}
	f.server, f.welcome, f.met = l, w, true
	f.ends.Go(func() { f.watch(l) })
	return nil
}

// announce lets the calls go on that wait for a daemon.
func (f *remoteNode) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.met && !isDone(f.there) {
		close(f.there)
	}
}

// watch reads from the connection for management calls, for them and to learn of the
// daemon's end. It ends with the connection.
func (f *remoteNode) watch(l *clientConn) {
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
		f.end(err)
		return
	}
	signal(f.gone)
}

// dial makes a connection, and says hello. fds says that answers will bring descriptors.
func (f *remoteNode) dial(ctx context.Context, fds bool) (*clientConn, attach.Welcome, error) {
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
func (f *remoteNode) line() (*clientConn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, net.ErrClosed
	}
	return f.server, nil
}

// NewPoller implements nodeBackend.
func (f *remoteNode) NewPoller() (*Poller, error) {
	return nil, opError("poll", "tipc", nil, nil, errors.ErrUnsupported)
}

// NewAccount implements nodeBackend: of an Account that nothing counts in.
func (f *remoteNode) NewAccount(c hosting.AccountConfig) *hosting.Account {
	return hosting.OpenAccount(new(sync.Mutex), c)
}

// Close implements nodeBackend: it ends everything of this program's; the daemon goes on. It waits for what was sent
// to be taken by the daemon, until ctx is done.
func (f *remoteNode) Close(ctx context.Context) error {
	f.mu.Lock()
	again := f.closed
	f.closed = true
	var sockets []*remoteSocket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	server := f.server
	f.mu.Unlock()
	if again {
		return nil
	}
	defer f.end(net.ErrClosed)
	f.stop()
	for _, s := range sockets {
		s.close("close", true)
	}
	server.close()
	done := make(chan struct{})
	go func() {
		f.ends.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		k := f.cut()
		f.mu.Lock()
		f.unsent.Err = fmt.Errorf("not all was taken by the daemon, of %d connections: %w", k, context.Cause(ctx))
		f.mu.Unlock()
	}
	return f.unsentError()
}
