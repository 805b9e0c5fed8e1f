// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon/plain"
	"github.com/utipc/utipc/stack"
)

// A Config is a Server's settings; its zero value means the defaults.
type Config struct {
	Program string  // name and version, told to programs
	Policy  *Policy // nil: DefaultPolicy without admins
	Quotas  Quotas
	Logger  *slog.Logger // nil: silent
	TCP     plain.TCP    // what TCP sockets of programs have of the node; zero: nothing

	// HelloTimeout is how long a connection may say nothing at first; 0: 5 s.
	HelloTimeout time.Duration
	// DrainTimeout is how long Shutdown lets sends wait for room; 0: 1 s.
	DrainTimeout time.Duration

	// Verbs are management calls beside those of the node, which they come before.
	Verbs map[string]Verb
	// Streams are what OpStream may ask for beside the node's, which they come before.
	Streams map[string]Stream
}

// A Verb is a management call: in is JSON, and out.
type Verb struct {
	Right Right
	Serve func(ctx context.Context, who attach.Credentials, in []byte) (out []byte, err error)
}

// A Stream gives items until ctx is done, or there are no more.
type Stream struct {
	Right Right
	// Serve calls started once it will give items, and give for each. Both fail when the
	// program has gone, and Serve is to return then. give waits while the program does not
	// read: Serve keeps no more than it wants to, and says how many it has lost.
	Serve func(ctx context.Context, in []byte, started func() error, give func(Item) error) error
}

// An Item is one of a Stream.
type Item struct {
	Kind uint32
	Lost uint32 // items just before
	Time time.Time
	Data []byte
}

// A Server lets programs use a node. All methods may be called by any number of
// goroutines.
type Server struct {
	node     *stack.Node
	cfg      Config
	poller   *stack.Poller
	accounts *accounts
	refusals refusals
	counters counters
	yielder  yielders
	sparse   atomic.Uint64 // records of connections that do not send without pause, see session.endTurn
	turns    turns
	plain    *plain.Sockets
	spinners atomic.Int64 // sessions that look at their rings before they sleep

	ctx  context.Context // of everything that may take long; done when the server ends
	stop context.CancelFunc
	wg   sync.WaitGroup // sessions, their calls, the poller's goroutine

	mu        sync.Mutex // guards the rest
	listeners map[*attach.Listener]struct{}
	sessions  map[*session]struct{}
	ended     bool
	drained   chan struct{} // closed when it has ended and there is no session any more
	isDrained bool
}

// Defaults of Config.
const (
	defaultHello = 5 * time.Second
	defaultDrain = time.Second
)

// New makes a Server of a node, which stays the caller's. Errors: net.ErrClosed.
func New(n *stack.Node, cfg Config) (*Server, error) {
	p, err := n.NewPoller()
	if err != nil {
		return nil, err
	}
	if cfg.Policy == nil {
		few := DefaultPolicy()
		cfg.Policy = &few
	}
	if cfg.HelloTimeout <= 0 {
		cfg.HelloTimeout = defaultHello
	}
	if cfg.DrainTimeout <= 0 {
		cfg.DrainTimeout = defaultDrain
	}
	if cfg.Program == "" {
		cfg.Program = "utipc"
	}
	s := &Server{
		node: n, cfg: cfg, poller: p, accounts: newAccounts(n, cfg.Quotas), turns: newTurns(),
		listeners: map[*attach.Listener]struct{}{}, sessions: map[*session]struct{}{},
		drained: make(chan struct{}),
	}
	s.refusals.log = cfg.Logger
	s.ctx, s.stop = context.WithCancel(context.Background())
	if s.plain, err = plain.New(n, cfg.TCP); err != nil {
		s.stop()
		p.Close()
		return nil, err
	}
	s.wg.Go(s.deliverAll)
	return s, nil
}

// Pauses after an Accept that failed for want of something that passes.
const (
	shortPause = 5 * time.Millisecond
	longPause  = time.Second
)

// Serve takes connections until the Server ends, and returns net.ErrClosed then. It
// closes l.
func (s *Server) Serve(l *attach.Listener) error {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		l.Close()
		return net.ErrClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.listeners, l)
		s.mu.Unlock()
		l.Close()
	}()
	pause := shortPause
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = shortPause
			s.ServeConn(c)
			continue
		case s.ctx.Err() != nil:
			return net.ErrClosed
		case errors.Is(err, net.ErrClosed):
			return err
		}
		s.counters.acceptErrors.Add(1)
		s.refusals.tell("accept", slog.Any("err", err))
		select { // as for want of descriptors
		case <-time.After(pause):
			pause = min(2*pause, longPause)
		case <-s.ctx.Done():
			return net.ErrClosed
		}
	}
}

// ServeConn serves one connection, in goroutines of its own. The Server closes it.
func (s *Server) ServeConn(c *attach.Conn) {
	who, err := c.Credentials()
	if err != nil {
		s.counters.badPeers.Add(1)
		s.refusals.tell("credentials", slog.Any("err", err))
		c.Close()
		return
	}
	x, err := s.newSession(c, who)
	if err != nil {
		s.turnAway(c, who, err)
		return
	}
	x.start()
}

// turnAway tells a connection that it is one too many.
func (s *Server) turnAway(c *attach.Conn, who attach.Credentials, err error) {
	s.counters.turnedAway.Add(1)
	s.refusals.tell("connection", slog.String("client", who.String()), slog.Any("err", err))
	h := attach.Header{Op: attach.OpHello, Flags: attach.FlagReply, Errno: stack.Errno(err)}
	c.TryWrite(&h, []byte(err.Error()))
	c.Close()
}

// register makes a session known. Errors: net.ErrClosed.
func (s *Server) register(x *session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return net.ErrClosed
	}
	s.sessions[x] = struct{}{}
	s.wg.Add(1)
	return nil
}

func (s *Server) unregister(x *session) {
	s.mu.Lock()
	delete(s.sessions, x)
	s.drainedLocked()
	s.mu.Unlock()
	s.wg.Done()
}

// drainedLocked tells Shutdown that there is no session any more.
func (s *Server) drainedLocked() {
	if s.ended && len(s.sessions) == 0 && !s.isDrained {
		s.isDrained = true
		close(s.drained)
	}
}

// Shutdown ends the Server: it takes no more connections, tells all programs that the
// daemon goes and why, sends what they have written before, closes their sockets, and waits
// until nothing of them is left or ctx is done. From then on their writes fail. Sends that
// find no room for Config.DrainTimeout, or until ctx is done, are given up, which is logged:
// their connections end with a reset, not in order. The node is open still: its Close waits for
// what was sent. A second call waits too.
func (s *Server) Shutdown(ctx context.Context, why string) error {
	s.mu.Lock()
	s.ended = true
	for l := range s.listeners {
		l.Close()
	}
	all := make([]*session, 0, len(s.sessions))
	for x := range s.sessions {
		all = append(all, x)
	}
	s.drainedLocked()
	s.mu.Unlock()
	s.stop()
	for _, x := range all {
		h := attach.Header{Op: attach.OpGone}
		x.c.TryWrite(&h, []byte(why))
		x.orderly.Store(true)
		x.c.CloseRead()
	}
	t := time.NewTimer(s.cfg.DrainTimeout)
	select {
	case <-s.drained:
	case <-t.C:
	case <-ctx.Done():
	}
	t.Stop()
	s.mu.Lock()
	left := make([]*session, 0, len(s.sessions))
	for x := range s.sessions {
		left = append(left, x)
	}
	s.mu.Unlock()
	for _, x := range left {
		s.refusals.tell("drain", slog.String("client", x.who.String()))
		x.end(false)
	}
	s.plain.Close()
	s.poller.Close()
	done := make(chan struct{})
	go func() {
		s.wg.Wait()
		s.yielder.close()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("daemon: sessions that do not end: %w", ctx.Err())
	}
}

// Node is the node that is served.
func (s *Server) Node() *stack.Node { return s.node }
