// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A localNode is a node in this process. All methods with exported names may be called by any
// number of goroutines.
type localNode struct {
	cfg   Config
	start time.Time

	mu             pollLock // the node's lock; guards everything below but jobs and parkers
	eng            *engine.Engine
	arena          *netdev.Arena
	unmap          func() // the arena's memory
	attached       []*attachment
	notes          []notedBearer   // bearers that somebody keeps, with a device or without
	closingDevices []closingDevice // devices that were closed while the node goes on
	media          [2]mediumState

	bcastWindow int // set of the broadcast link, which never uses more than 50; 0: 50

	watches    map[*watch]struct{}
	captures   map[*frameCapture]struct{}
	leadership leadership
	closing    bool
	closed     bool

	sockets  map[socket]struct{}
	subs     map[*localSubscription]struct{}
	lines    map[*topologyLine]struct{}
	pollers  map[*Poller]struct{}
	awaited  awaiting         // calls that wait for a name
	called   []*engine.Ticket // writes for which there is room now
	trying   *waiter          // whose send this is, of those that wait
	waitTold time.Duration    // when one that waits was logged last
	actives  int              // active ports whose handlers run in polls
	faulted  []*localPort     // to be closed, or moved to a goroutine
	attended time.Duration    // since when the background goroutine waits for messages to them; 0: it does not
	apart    sync.WaitGroup   // the handlers that have goroutines
	starting waitList         // Open, until the address is settled
	settling waitList         // Audit, between its rounds
	draining waitList         // Close, until everything is acknowledged
	probed   []*engine.Probe

	in           [batch]*netdev.Buffer
	ready        []*engine.Port
	names        []naming.Event
	heard        []*engine.Subscription
	moved        []*engine.Conn
	groups       []*engine.Group
	asked        []*engine.Listener
	sends        int             // since the devices were looked at
	polling      bool            // the leader is in its poll
	spinPolicy   spinPolicy      // of waiting calls
	attendance   spinPolicy      // of the background goroutine, while there are active ports
	generation   int             // of the list of bearers, for the parkers
	readyDevices []netdev.Peeker // the devices, if all are such; never changed, but replaced
	yield        int             // yields after which a spinner gives way to others of its process; 0: never
	polled       bool            // every device has a descriptor
	parallel     bool            // the process has several Ps
	yields       int
	wakeups      uint64        // see Stats
	sent         time.Duration // when the last send was over for which the clock was read
	unclocked    time.Duration // sends since
	latest       time.Duration // what the engine was told last
	sendsInRow   int           // sends since the last pause
	flushAsked   bool          // the background goroutine is about to send what waits

	idleWaiters []*waiter
	callers     []*caller // between two calls

	jobs                         jobList
	idleJobs                     sync.Pool
	callParker, backgroundParker parker
	backgroundWake               chan struct{}
	backgroundDone               chan struct{}
	logs                         logbook
	closeDone                    chan struct{}
	closeErr                     error // of Close, once closeDone is closed
	*ending
}

// Bounds of Config.Chunks.
const (
	minChunks = 64
	maxChunks = 1 << 20
	maxMTU    = 65535
)

func open(cfg Config) (opened *localNode, failed error) {
	if len(cfg.Bearers) == 0 && !cfg.NoBearers {
		return nil, fmt.Errorf("%w: no bearer", ErrConfig)
	}
	if cfg.Wait > Spin {
		return nil, fmt.Errorf("%w: wait mode %d", ErrConfig, cfg.Wait)
	}
	if err := checkBearers(cfg); err != nil {
		return nil, err
	}
	if cfg.NameWait < 0 {
		return nil, fmt.Errorf("%w: a negative wait for names, %v", ErrConfig, cfg.NameWait)
	}
	if cfg.Chunks != 0 && (cfg.Chunks < minChunks || cfg.Chunks > maxChunks) {
		return nil, fmt.Errorf("%w: %d chunks, not in %d to %d", ErrConfig, cfg.Chunks, minChunks, maxChunks)
	}
	if cfg.MTU < 0 || cfg.MTU > maxMTU {
		return nil, fmt.Errorf("%w: MTU %d, not in 0 to %d", ErrConfig, cfg.MTU, maxMTU)
	}
	n := &localNode{
		cfg: cfg, start: time.Now(),
		sockets: map[socket]struct{}{}, subs: map[*localSubscription]struct{}{}, lines: map[*topologyLine]struct{}{},
		watches: map[*watch]struct{}{}, captures: map[*frameCapture]struct{}{},
		backgroundWake: make(chan struct{}, 1), backgroundDone: make(chan struct{}), closeDone: make(chan struct{}),
		ending: newEnding(),
	}
	n.mu.work = newLockWork()
	var did func(engine.Work, int)
	if n.mu.work != nil {
		did = n.mu.work.did
	}
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
		Arena: n.arena, Chance: newChance(), Did: did,
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
		if err := n.eng.SetKey(n.now(), k); err != nil {
			return nil, err
		}
	}
	n.cfg.Encryption.Keys = nil // the engine has copies
	n.cfg.Bearers = nil         // those that are disabled are to be forgotten
	n.parallel = runtime.GOMAXPROCS(0) > 1
	quota, _ := cpuQuota()
	n.spinPolicy = newSpinPolicy(cfg.Wait, quota)
	n.attendance = n.spinPolicy
	for _, s := range []*parker{&n.callParker, &n.backgroundParker} {
		s.hang(newChanWaker())
	}
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
			return fmt.Errorf("%w: a bearer is nil", ErrConfig)
		case names[d.Name()]:
			return fmt.Errorf("%w: two bearers are named %s", ErrConfig, d.Name())
		}
		names[d.Name()] = true
	}
	for name := range cfg.Links {
		if !names[name] && !cfg.NoBearers {
			return fmt.Errorf("%w: no bearer is named %s", ErrConfig, name)
		}
	}
	return nil
}

// errClosedLost is why bytes are lost when Node.Close had nothing to wait for any more.
var errClosedLost = errors.New("connections were lost after they had been closed")

// settled waits until the node has its address.
func (n *localNode) settled(ctx context.Context) error {
	n.mu.Lock()
	defer n.unlock()
	c := wait{list: &n.starting, closed: &n.closing, ctx: ctx}
	defer n.leave(&c)
	return n.await(&c, func() bool { return n.eng.Address() != 0 })
}

// running reports why sockets cannot be made. Errors: net.ErrClosed, ErrNoAddress.
func (n *localNode) running() error {
	switch {
	case n.closing:
		return net.ErrClosed
	case n.eng.Address() == 0:
		return ErrNoAddress
	}
	return nil
}

// Addr implements nodeBackend.
func (n *localNode) Addr() NodeAddr {
	n.mu.Lock()
	defer n.unlock()
	return n.eng.Address()
}

// Identity implements nodeBackend.
func (n *localNode) Identity() Identity {
	n.mu.Lock()
	defer n.unlock()
	return n.eng.Identity()
}

// Close implements nodeBackend.
func (n *localNode) Close(ctx context.Context) error {
	n.mu.Lock()
	again := n.closing
	n.closing = true
	if again {
		n.unlock()
		select {
		case <-n.closeDone:
			return n.closeErr
		case <-ctx.Done():
			return opError("close", "tipc", nil, nil, ctx.Err())
		}
	}
	defer n.ending.end(net.ErrClosed)
	defer close(n.closeDone)
	n.rouseAll(n.starting) // nothing will settle any more
	n.rouseAll(n.settling)
	for s := range n.sockets {
		s.shut()
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
	now := n.now()
	n.eng.Flush(now) // so that it is asked about, too
	n.eng.Hurry(now)
	n.pollOnce(now, false)
	unsent := n.drain(ctx)
	now = n.now()
	n.eng.CutShort(now) // what is closed and not sent ends in a reset
	n.pollOnce(now, false)
	n.eng.Leave(now)
	n.pollOnce(now, false)
	bytes := int(n.eng.Counters().ClosedUnsent)
	n.closed = true
	n.rouseAll(n.starting)
	n.callParker.ring()
	n.backgroundParker.ring()
	signal(n.backgroundWake)
	n.unlock()
	<-n.backgroundDone
	n.apart.Wait()

	n.mu.Lock()
	var err error
	for _, a := range n.attached {
		err = errors.Join(err, a.dev.Close())
	}
	n.retire()
	n.callParker.close()
	n.backgroundParker.close()
	n.logs.close()
	for c := range n.captures {
		c.end(net.ErrClosed)
	}
	for w := range n.watches {
		w.end(net.ErrClosed)
	}
	clear(n.captures)
	clear(n.watches)
	n.unlock()
	n.logs.wait()
	if unsent > 0 || bytes > 0 {
		why := errClosedLost
		if unsent > 0 {
			why = context.Cause(ctx)
		}
		err = errors.Join(&UnsentError{unsent, bytes, why}, err)
	}
	if err != nil {
		n.closeErr = opError("close", "tipc", nil, nil, err)
	}
	return n.closeErr
}

// drain waits until everything sent is acknowledged and returns what is not.
func (n *localNode) drain(ctx context.Context) int {
	c := wait{list: &n.draining, ctx: ctx}
	defer n.leave(&c)
	n.await(&c, func() bool { return n.eng.Unsent() == 0 })
	return n.eng.Unsent()
}
