// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/testhook"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/feed"
	"github.com/utipc/utipc/stack/internal/poll"
	"github.com/utipc/utipc/stack/socket"
)

// A Node is a node in this process. All methods with exported names may be called by any
// number of goroutines.
type Node struct {
	cfg  Config
	hook *testhook.Hook // of a test, or nil
	loop poll.Loop      // with the node's lock, which guards everything below

	eng      *engine.Engine
	arena    *netdev.Arena
	unmap    func() // the arena's memory
	attached []*attachment
	notes    []notedBearer // bearers that somebody keeps, with a device or without
	media    [2]mediumState

	bcastWindow int // set of the broadcast link, which never uses more than 50; 0: 50

	watches  map[*feed.Watch]struct{}
	captures map[*feed.Capture]struct{}
	closing  bool
	closed   bool

	sockets  map[openSocket]struct{}
	subs     map[*Subscription]struct{}
	lines    map[*topologyLine]struct{}
	pollers  map[*poller]struct{}
	awaited  awaiting         // calls that wait for a name
	called   []*engine.Ticket // writes for which there is room now
	trying   *poll.Waiter     // whose send this is, of those that wait
	waitTold time.Duration    // when one that waits was logged last
	faulted  []*activePort    // to be closed, or moved to a goroutine
	apart    sync.WaitGroup   // the handlers that have goroutines
	starting poll.List        // Open, until the address is settled
	settling poll.List        // Audit, between its rounds
	draining poll.List        // Close, until everything is acknowledged
	probed   []*engine.Probe

	in       [batch]*netdev.Buffer
	ready    []*engine.Port
	names    []naming.Event
	heard    []*engine.Subscription
	moved    []*engine.Conn
	groups   []*engine.Group
	asked    []*engine.Listener
	losers   []any         // that have lost a name
	sends    int           // since the devices were looked at
	latest   time.Duration // what the engine was told last
	callers  []*caller     // between two calls
	complete bool          // Open has attached its bearers

	idleJobs  sync.Pool
	logs      logbook
	closeDone chan struct{}
	closeErr  error // of Close, once closeDone is closed
	*backend.Ending
}

// The modes of package poll have the values of a WaitMode.
var (
	_ = [1]struct{}{}[socket.Adaptive-socket.WaitMode(poll.Adaptive)]
	_ = [1]struct{}{}[socket.Sleep-socket.WaitMode(poll.Sleep)]
	_ = [1]struct{}{}[socket.Spin-socket.WaitMode(poll.Spin)]
)

// Bounds of Config.Chunks.
const (
	minChunks = 64
	maxChunks = 1 << 20
	maxMTU    = 65535
)

// Open opens a node, and waits until its address is settled. It closes the bearers if it
// fails. Errors: those of Open, bare.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	n, err := open(cfg, testhook.From(ctx))
	if err != nil {
		for _, d := range cfg.Bearers {
			if d != nil {
				d.Close()
			}
		}
		return nil, err
	}
	n.logs.open(cfg.Logger)
	go n.loop.Run()
	if len(cfg.Bearers) == 0 {
		return n, nil
	}
	if err := n.settled(ctx); err != nil {
		n.Close(ctx)
		return nil, err
	}
	return n, nil
}

func open(cfg Config, hook *testhook.Hook) (opened *Node, failed error) {
	if len(cfg.Bearers) == 0 && !cfg.NoBearers {
		return nil, fmt.Errorf("%w: no bearer", engine.ErrConfig)
	}
	if cfg.Wait > socket.Spin {
		return nil, fmt.Errorf("%w: wait mode %d", engine.ErrConfig, cfg.Wait)
	}
	if err := checkBearers(cfg); err != nil {
		return nil, err
	}
	if cfg.NameWait < 0 {
		return nil, fmt.Errorf("%w: a negative wait for names, %v", engine.ErrConfig, cfg.NameWait)
	}
	if cfg.Chunks != 0 && (cfg.Chunks < minChunks || cfg.Chunks > maxChunks) {
		return nil, fmt.Errorf("%w: %d chunks, not in %d to %d", engine.ErrConfig, cfg.Chunks, minChunks, maxChunks)
	}
	if cfg.MTU < 0 || cfg.MTU > maxMTU {
		return nil, fmt.Errorf("%w: MTU %d, not in 0 to %d", engine.ErrConfig, cfg.MTU, maxMTU)
	}
	n := &Node{
		cfg:     cfg,
		hook:    hook,
		sockets: map[openSocket]struct{}{}, subs: map[*Subscription]struct{}{}, lines: map[*topologyLine]struct{}{},
		watches: map[*feed.Watch]struct{}{}, captures: map[*feed.Capture]struct{}{},
		closeDone: make(chan struct{}), Ending: backend.NewEnding(),
	}
	n.loop.Init(poll.Config{Machine: machine{n}, Mode: poll.Mode(cfg.Wait), GoPoller: cfg.GoPoller})
	var err error
	if n.arena, n.unmap, err = newArena(cfg); err != nil {
		return nil, err
	}
	defer func() {
		if failed != nil {
			n.retire()
		}
	}()
	n.eng, err = engine.New(engine.Config{
		Address: cfg.Address, Identity: cfg.Identity, NetID: cfg.NetID,
		Tolerance: cfg.Tolerance, Priority: cfg.Priority, Window: cfg.Window, MaxWindow: cfg.MaxWindow, NoBundles: cfg.NoBundles, NoNamesAhead: cfg.NoNamesAhead,
		NamePark: cfg.NamePark, MonitorThreshold: cfg.MonitorThreshold,
		Sealed: cfg.Encryption.Expected || len(cfg.Encryption.Keys) > 0, Migration: cfg.Encryption.Migration,
		NoExchange: cfg.Encryption.NoExchange, Rekey: cfg.Encryption.Rekey,
		Arena: n.arena, Chance: newChance(n.hook), Did: n.loop.Counter(),
	})
	if err != nil {
		return nil, err
	}
	n.media = newMedia(cfg)
	for _, d := range cfg.Bearers {
		if _, err := n.join(d, admin.BearerConfig{}); err != nil {
			return nil, err
		}
	}
	for _, k := range cfg.Encryption.Keys { // before any frame is taken out
		if err := n.eng.SetKey(n.loop.Now(), k); err != nil {
			return nil, err
		}
	}
	n.cfg.Encryption.Keys = nil // the engine has copies
	n.cfg.Bearers = nil         // those that are disabled are to be forgotten
	n.complete = true
	if err := n.regroup(); err != nil {
		return nil, err
	}
	return n, nil
}

// checkBearers reports bearers that cannot be, or settings for none. Errors: ErrConfig.
func checkBearers(cfg Config) error {
	names := map[string]bool{}
	for _, d := range cfg.Bearers {
		switch {
		case d == nil:
			return fmt.Errorf("%w: a bearer is nil", engine.ErrConfig)
		case names[d.Name()]:
			return fmt.Errorf("%w: two bearers are named %s", engine.ErrConfig, d.Name())
		}
		names[d.Name()] = true
	}
	for name := range cfg.Links {
		if !names[name] && !cfg.NoBearers {
			return fmt.Errorf("%w: no bearer is named %s", engine.ErrConfig, name)
		}
	}
	return nil
}

// errClosedLost is why bytes are lost when Node.Close had nothing to wait for any more.
var errClosedLost = errors.New("connections ended before all was sent")

// settled waits until the node has its address.
func (n *Node) settled(ctx context.Context) error {
	n.loop.Lock()
	defer n.loop.Unlock()
	c := poll.Wait{List: &n.starting, Closed: &n.closing, Ctx: ctx}
	defer n.loop.Leave(&c)
	return n.loop.Await(&c, func() bool { return n.eng.Address() != 0 })
}

// running reports why sockets cannot be made. Errors: net.ErrClosed, ErrNoAddress.
func (n *Node) running() error {
	switch {
	case n.closing:
		return net.ErrClosed
	case n.eng.Address() == 0:
		return socket.ErrNoAddress
	}
	return nil
}

// Addr implements backend.Node.
func (n *Node) Addr() frame.NodeAddr {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.Address()
}

// Identity implements backend.Node.
func (n *Node) Identity() frame.Identity {
	n.loop.Lock()
	defer n.loop.Unlock()
	return n.eng.Identity()
}

// Close implements backend.Node.
func (n *Node) Close(ctx context.Context) error {
	n.loop.Lock()
	again := n.closing
	n.closing = true
	if again {
		n.loop.Unlock()
		select {
		case <-n.closeDone:
			return n.closeErr
		case <-ctx.Done():
			return backend.OpError("close", "tipc", nil, nil, ctx.Err())
		}
	}
	defer n.Ending.End(net.ErrClosed)
	defer close(n.closeDone)
	n.loop.RouseAll(n.starting) // nothing will settle any more
	n.loop.RouseAll(n.settling)
	lost := 0 // of connections, as their own Close would report it
	for s := range n.sockets {
		s.shut()
		if c, ok := s.(*Conn); ok && c.c != nil {
			lost += c.c.Unsent()
		}
	}
	n.dismissCallers()
	for s := range n.subs {
		s.close()
	}
	for l := range n.lines {
		l.close()
	}
	for p := range n.pollers {
		p.close()
	}
	n.eng.EndProbes()
	now := n.loop.Now()
	n.eng.Flush(now) // so that it is asked about, too
	n.eng.Hurry(now)
	n.pollOnce(now, false)
	unsent := n.drain(ctx)
	now = n.loop.Now()
	n.eng.CutShort(now) // what is closed and not sent ends in a reset
	n.pollOnce(now, false)
	n.eng.Leave(now)
	n.pollOnce(now, false)
	bytes := lost + int(n.eng.Counters().ClosedUnsent)
	n.closed = true
	n.loop.RouseAll(n.starting)
	n.loop.Stop()
	n.loop.Unlock()
	n.loop.Stopped()
	n.apart.Wait()

	n.loop.Lock()
	var err error
	for _, a := range n.attached {
		err = errors.Join(err, a.Close())
	}
	n.retire()
	n.loop.Close()
	n.logs.close()
	for c := range n.captures {
		c.End(net.ErrClosed)
	}
	for w := range n.watches {
		w.End(net.ErrClosed)
	}
	clear(n.captures)
	clear(n.watches)
	n.loop.Unlock()
	n.logs.wait()
	if unsent > 0 || bytes > 0 {
		why := errClosedLost
		if unsent > 0 {
			why = context.Cause(ctx)
		}
		err = errors.Join(&socket.UnsentError{Packets: unsent, Bytes: bytes, Err: why}, err)
	}
	if err != nil {
		n.closeErr = backend.OpError("close", "tipc", nil, nil, err)
	}
	return n.closeErr
}

// drain waits until everything sent is acknowledged and returns what is not.
func (n *Node) drain(ctx context.Context) int {
	c := poll.Wait{List: &n.draining, Ctx: ctx}
	defer n.loop.Leave(&c)
	n.loop.Await(&c, func() bool { return n.eng.Unsent() == 0 })
	return n.eng.Unsent()
}
