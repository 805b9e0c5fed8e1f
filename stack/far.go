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
	"syscall"
	"time"

	"github.com/utipc/utipc/attach"
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
// When the daemon ends, every call does, with a *GoneError, which is net.ErrClosed; those
// that tell how things stand and have no error, as Links, tell nothing. Reattach connects
// to the daemon that comes after it. docs/attach.md has the differences to Open, and the
// protocol. Errors, inside *net.OpError: those of the system, as syscall.ENOENT and
// ECONNREFUSED where no daemon is, EACCES where one may not connect; attach.ErrVersion;
// syscall.EPERM, EMFILE and EUSERS where the daemon refuses; the context's.
func Attach(ctx context.Context, path string) (*Node, error) { return AttachConfig{}.Attach(ctx, path) }

// Attach is stack.Attach with options.
func (c AttachConfig) Attach(ctx context.Context, path string) (*Node, error) {
	path = cmp.Or(path, os.Getenv("UTIPC_SOCKET"), DefaultSocket)
	c.Program = cmp.Or(c.Program, filepath.Base(os.Args[0]))
	f := &farNode{path: path, cfg: c, sockets: map[*farSocket]struct{}{}, subs: map[*farSubscription]struct{}{},
		reattaching: make(chan struct{}, 1)}
	err := c.check()
	if err == nil {
		err = f.connect(ctx)
	}
	if err != nil {
		return nil, opError("attach", "tipc", nil, &net.UnixAddr{Net: "unixpacket", Name: path}, err)
	}
	f.n = &Node{start: time.Now(), far: f}
	return f.n, nil
}

// A farNode is what an attached Node is: a connection for management calls, and what is
// open. Each socket, and each subscription, has a connection of its own.
type farNode struct {
	n    *Node
	path string
	cfg  AttachConfig

	mu      sync.Mutex // guards what follows
	home    *farLine
	welcome attach.Welcome
	ending  *ending // of the daemon, as far as the node knows
	sockets map[*farSocket]struct{}
	subs    map[*farSubscription]struct{}
	callers []*PacketConn // sockets of calls that are over
	closed  bool
	ends    sync.WaitGroup        // what waits to say goodbye
	leaving map[*farLine]struct{} // connections that are closed, and whose end the daemon has not answered
	unsent  UnsentError           // of connections that are closed; without Err there is none

	reattaching chan struct{} // of one place: who holds it reattaches
}

// connect makes the connection for management calls.
func (f *farNode) connect(ctx context.Context) error {
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
	f.home, f.welcome, f.ending = l, w, newEnding()
	f.ends.Go(func() { f.watch(l, f.ending) })
	return nil
}

// watch reads from the connection for management calls, for them and to learn of the
// daemon's end. It ends with the connection.
func (f *farNode) watch(l *farLine, ending *ending) {
	l.mu.Lock()
	w := l.enter(0)
	err := l.await(w, new(time.Time), func() bool { return false })
	l.leave(w)
	l.mu.Unlock()
	ending.end(err)
}

// dial makes a connection, and says hello. fds says that answers will bring descriptors.
func (f *farNode) dial(ctx context.Context, fds bool) (*farLine, attach.Welcome, error) {
	c, err := attach.Dial(ctx, f.path)
	if err != nil {
		return nil, attach.Welcome{}, outOfOp(err)
	}
	l := newFarLine(c)
	l.fds = fds
	h, data := attach.HelloRequest(0, f.cfg.features(), f.cfg.Program)
	a, err := l.ask(ctx, h, data)
	var w attach.Welcome
	if err == nil {
		w, err = attach.ParseWelcome(&a.Header, a.data)
	} else if errors.Is(err, syscall.EPROTONOSUPPORT) {
		err = attach.ErrVersion
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
func (f *farNode) line() (*farLine, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, net.ErrClosed
	}
	return f.home, nil
}

// lives reports whether the daemon is there, as far as its connection tells.
func (f *farNode) lives() bool {
	l, err := f.line()
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader == nil {
		l.look()
	}
	return l.over == nil
}

// close ends everything of this program's; the daemon goes on. It waits for what was sent
// to be taken by the daemon, until ctx is done.
func (f *farNode) close(ctx context.Context) error {
	f.mu.Lock()
	again := f.closed
	f.closed = true
	var sockets []*farSocket
	for s := range f.sockets {
		sockets = append(sockets, s)
	}
	for s := range f.subs {
		s.line.close()
	}
	home := f.home
	f.mu.Unlock()
	if again {
		return nil
	}
	for _, s := range sockets {
		s.close("close", true)
	}
	home.close()
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
