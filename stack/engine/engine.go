// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/naming"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// Capabilities is what this stack announces: exactly what is built.
const Capabilities = frame.CapSynBit | frame.CapBcastSynch | frame.CapBcastStateNack |
	frame.CapBcastRcast | frame.CapNodeID128 | frame.CapLinkProtoSeqno | frame.CapGapAckBlock |
	frame.CapTunnelEnhanced | frame.CapNamedBcast | frame.CapMcastRbctl | frame.CapBlockFlowctl | frame.CapNagle

// Limits of a node; what comes beyond is dropped and counted.
const (
	MaxNodes     = 4096             // other nodes known, unless the Config says so
	maxStrangers = 1024             // of them without a link that ever was up
	maxPorts     = 1 << 20          // sockets
	maxOut       = 16384            // frames waiting for a stalled device
	forgetAfter  = 5 * time.Minute  // how long a node that is down is remembered
	slowTick     = 10 * time.Second // how often forgetting is looked at
)

// A Config describes a node. Zero fields mean the defaults.
type Config struct {
	Address   frame.NodeAddr // 0: proposed from the identity and tried on the network
	Identity  frame.Identity // zero: from Address, else from the first bearer's MAC
	NetID     uint32         // 1 to 9999; default 4711
	Tolerance time.Duration  // of links, and below: see LinkConfig
	Window    int
	MaxWindow int
	Priority  uint8
	NoBundles bool          // every message has a packet to itself
	Margin    int           // bytes left free in every packet; kernels with encryption leave 32
	Arena     *netdev.Arena // needed
	Chance    Chance        // needed

	// Did, if not nil, is told of work of which a turn has to do a limited amount; for tests.
	Did func(Work, int)

	// Capabilities are announced in place of what is built; zero is what is built.
	// For replays and tests alone: a node that announces what it cannot do is not
	// understood.
	Capabilities frame.Capabilities
	// AsKernel makes recovery from losses that of a kernel, for replays: by reports
	// and ticks alone; and no link is kept down because it came and went.
	AsKernel bool
	// NoNamesAhead sends changes of names on the broadcast link alone. Else a node is
	// sent them by its own link too, before data that may refer to them.
	NoNamesAhead bool
	// FirstSeq is the number of every session's first packet if not 0, else 1: a hook
	// for simulations, which set all nodes alike.
	FirstSeq frame.Seq
	// NamePark is how long a message from another node may wait here for a name that
	// nobody has bound, before it is rejected; default DefaultNamePark, negative or
	// with AsKernel not at all.
	NamePark time.Duration
	// MonitorThreshold is the number of nodes on a bearer, this one included, up to
	// which every one supervises every other: 1 to monitor.MaxThreshold; default
	// monitor.DefaultThreshold. With more they supervise some, and tell each other of
	// the rest. Source: docs/spec/03-discovery-and-node.md §8.
	MonitorThreshold int
	// MaxNodes is the number of other nodes known at a time; default MaxNodes.
	MaxNodes int

	// Sealed says that keys will be set: links leave room for sealing from the start.
	Sealed bool
	// Migration makes a node with keys take plain frames of others all the same. Else
	// they are dropped and counted, and so is what it would have to send plain.
	Migration bool
	// NoExchange makes keys neither handed out nor taken from others.
	NoExchange bool
	// Rekey is the time between two keys that a node with keys makes itself; default
	// seal.DefaultInterval, negative never.
	Rekey time.Duration
}

// A BearerConfig describes an attachment to a network.
type BearerConfig struct {
	Name string // the interface
	MAC  frame.MAC
	MTU  int // bytes of TIPC in a frame, at least 100, 136 if sealed; 0: the interface is down, see SetMTU
	LinkConfig

	Medium Medium         // of a bearer over UDP; nil: Ethernet
	Domain frame.NodeAddr // that other nodes must be of, see inScope; 0: none
}

// An Engine is one node. See the package comment.
type Engine struct {
	cfg    Config
	links  LinkConfig     // defaults of bearers
	addr   frame.NodeAddr // 0 until settled
	random uint32
	hash   uint32 // of the network namespace, see netHash
	trial  trial

	bearers      []*bearer
	nodes        []*node // by address
	byAddr       map[frame.NodeAddr]*node
	identities   map[frame.Identity]*node // the first that claims it
	strangers    lruList                  // nodes that never had a link up
	gone         lruList                  // nodes that lost the last one
	stations     stations
	pool         flowctl.Pool // of what they make us keep
	objections   bucket
	lastPeer     *node
	method       Method // of multicast messages, see SetMulticast
	ratio        int    // 0: replicastShare
	observer     observer
	table        *naming.Table
	pub          naming.Publisher
	namesAgain   alarm
	unbinding    withdrawals
	work         work
	recent       []update      // of names, that may be under way on the broadcast link
	cast         broadcastLink // ours
	ups          int           // nodes there is contact with
	mcast        multicast
	caps         frame.Capabilities // see commonCaps
	capsVoid     bool
	barriers     barriers
	refused      rateLimitedLog // of names that break a rule
	tooManyNames rateLimitedLog // of more names than there may be
	parking      parking
	ports        map[uint32]*Port
	lastPort     *Port
	deadlines    deadlines // of links
	watches      watches
	topology     topology
	slow         time.Duration // the next look for nodes to forget
	said         conflictsSaid
	conflict     Conflict // the last that was seen

	hold   bool    // messages wait for Flush
	held   []*link // that have some
	failed []*link // that have gone down, see reapFailed
	queues queues
	pieces []*netdev.Buffer // of the message that is being cut; empty between
	whole  []byte           // of a lent message, in one piece; good until the next

	handlers handlers // of active ports

	self   *node // stands for this node among those that connections lead to
	conns  conns
	groups groups
	alarms alarms // of connections
	probes probes

	requests requests // that wait for an answer

	services  services
	exclusive exclusives
	crypt     *crypt // nil: never a key

	events flowctl.Queue[Event]
	ready  []*Port
	count  Counters
}

// ErrConfig means a Config that cannot work; the text says why.
var ErrConfig = errors.New("engine: bad configuration")

// New makes a node without a bearer. Errors: ErrConfig.
func New(cfg Config) (*Engine, error) {
	if cfg.NetID == 0 {
		cfg.NetID = frame.DefaultNetID
	}
	if cfg.Capabilities == 0 {
		cfg.Capabilities = Capabilities
	}
	if cfg.MaxNodes == 0 {
		cfg.MaxNodes = MaxNodes
	}
	switch {
	case cfg.AsKernel:
		cfg.NamePark = -1
	case cfg.NamePark == 0:
		cfg.NamePark = DefaultNamePark
	}
	if cfg.Identity == (frame.Identity{}) && cfg.Address != 0 {
		cfg.Identity = frame.AddrIdentity(cfg.Address)
	}
	switch n := cfg.MonitorThreshold; {
	case cfg.NetID > 9999:
		return nil, fmt.Errorf("%w: network id %d is not in 1 to 9999", ErrConfig, cfg.NetID)
	case n != 0 && !monitorable(n):
		return nil, errThreshold(n)
	}
	if cfg.Rekey == 0 {
		cfg.Rekey = seal.DefaultInterval
	}
	cfg.Rekey = max(cfg.Rekey, 0)
	links := LinkConfig{Tolerance: cfg.Tolerance, Priority: cfg.Priority, Window: cfg.Window, MaxWindow: cfg.MaxWindow}
	links = links.or(linkDefaults)
	if err := links.check(); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, links: links, random: cfg.Chance.Node(), hash: cfg.Chance.NetHash(),
		byAddr: map[frame.NodeAddr]*node{}, identities: map[frame.Identity]*node{}, ports: map[uint32]*Port{}, stations: stations{}, pool: flowctl.Pool{Limit: flowctl.DefaultPool, Wholes: netdev.NewMessagePool(cfg.Arena)},
		slow: flowctl.Never, capsVoid: true, barriers: barriers{next: flowctl.Never},
	}
	if cfg.Sealed {
		e.crypt = e.newCrypt()
	}
	if cfg.Address != 0 {
		e.settle(0, cfg.Address)
	}
	return e, nil
}

// AddBearer attaches the node to a network and begins discovery there. It
// returns the bearer's number. A node has at most MaxBearers,
// each on a segment of its own. Errors: ErrConfig.
func (e *Engine) AddBearer(now time.Duration, c BearerConfig) (int, error) {
	switch {
	case e.freeBearer() == MaxBearers:
		return 0, fmt.Errorf("%w: more than %d bearers", ErrConfig, MaxBearers)
	case c.MTU < e.leastMTU() && c.MTU != 0:
		return 0, fmt.Errorf("%w: bearer %s has an MTU of %d, less than %d", ErrConfig, c.Name, c.MTU, e.leastMTU())
	case c.MAC == frame.MAC{} || c.MAC.IsGroup():
		return 0, fmt.Errorf("%w: bearer %s has no station address of its own", ErrConfig, c.Name)
	case len(c.Name) >= frame.IfNameLen:
		return 0, fmt.Errorf("%w: bearer name %q is longer than %d characters", ErrConfig, c.Name, frame.IfNameLen-1)
	}
	c.LinkConfig = c.LinkConfig.or(e.links)
	if err := c.LinkConfig.check(); err != nil {
		return 0, err
	}
	if e.cfg.Identity == (frame.Identity{}) {
		e.cfg.Identity = c.identity()
		e.nameCrypt()
	}
	b := &bearer{BearerConfig: c, id: uint8(e.freeBearer())}
	if int(b.id) == len(e.bearers) {
		e.bearers = append(e.bearers, b)
	} else {
		e.bearers[b.id] = b
	}
	e.startDiscovery(now, b)
	return int(b.id), nil
}

// Address is the node's address, 0 while it is being tried on the network.
func (e *Engine) Address() frame.NodeAddr { return e.addr }

// Identity is the node's identity.
func (e *Engine) Identity() frame.Identity { return e.cfg.Identity }

// Counters returns what the node has done so far.
func (e *Engine) Counters() Counters { return e.count }

// Kept is the memory, in bytes, that other nodes make this one keep until something
// else comes: packets before their turn, and fragments.
func (e *Engine) Kept() int { return e.pool.Used() }

// Deadline says when to call HandleTimeout; flowctl.Never when nothing is due.
func (e *Engine) Deadline() time.Duration {
	at := min(e.slow, e.deadlines.first(), e.alarms.first(), e.conns.deadline(), e.barriers.next, e.parking.first(), e.subscribersDue())
	for _, b := range e.bearers {
		at = min(at, b.next)
	}
	if e.crypt != nil {
		at = min(at, e.crypt.next)
	}
	if len(e.failed) > 0 || e.work.chores.Len() > 0 {
		return 0
	}
	return at
}

// arm takes over the deadline of a link that may have changed.
func (e *Engine) arm(l *link) {
	if at := l.Deadline(); at != l.due {
		e.deadlines.move(l, at)
	}
}

// HandleTimeout does what is due at now: discovery, links by node and bearer, messages
// that waited for a name.
// What is not due costs nothing. Calling it early is harmless.
func (e *Engine) HandleTimeout(now time.Duration) {
	e.workOff(now)
	e.reapFailed(now)
	if c := e.crypt; c != nil {
		if c.now = now; now >= c.next {
			e.serveKeys(now)
		}
	}
	for _, b := range e.bearers {
		e.discoveryTimeout(now, b)
	}
	if now >= e.deadlines.first() {
		for _, l := range e.deadlines.due(now) {
			l.HandleTimeout(now)
			e.after(now, l)
			e.inspect(now, l)
			e.replace(now, l)
		}
	}
	if now >= e.barriers.next {
		e.breakBarriers(now)
	}
	if now >= e.parking.first() {
		e.endParked(now)
	}
	if now >= e.slow {
		e.forget(now)
	}
	if now >= e.alarms.first() {
		e.alarms.ringDue(now)
	}
	e.reapFailed(now) // so that users of connections hear of it
	e.serveConns(now)
	e.serveSubscribers(now)
	e.groupNews(now)
	e.reapFailed(now)
}

// NextFrame returns the next frame to send on a bearer, sealed where there are keys, or
// nil. The caller takes over one hold.
func (e *Engine) NextFrame(bearer int) *netdev.Buffer {
	b := e.bearers[bearer]
	if b.out.Len() == 0 {
		return nil
	}
	if e.crypt == nil {
		e.count.FramesOut++
		f := b.out.Pop().f
		if e.observer.on {
			e.observer.taken(f)
		}
		return f
	}
	f := e.nextSealed(b)
	if f != nil {
		e.count.FramesOut++
	}
	return f
}

func (e *Engine) drop(d Drop) { e.count.Drops[d]++ }

// find returns the place of a node among e.nodes, or where it belongs.
func (e *Engine) find(a frame.NodeAddr) int {
	i, _ := slices.BinarySearchFunc(e.nodes, a, func(n *node, a frame.NodeAddr) int {
		switch {
		case n.addr < a:
			return -1
		case n.addr > a:
			return 1
		}
		return 0
	})
	return i
}

// settle makes a the node's address.
func (e *Engine) settle(now time.Duration, a frame.NodeAddr) {
	e.addr = a
	e.nameCrypt()
	e.self = &node{addr: a, caps: e.cfg.Capabilities}
	e.table = naming.NewTable(a)
	e.openBroadcastLink()
	e.publish(now, naming.Binding{
		Range: frame.Range{Type: naming.NodeState, Lower: uint32(a), Upper: uint32(a)},
		Scope: frame.ClusterScope, Socket: frame.SocketAddr{Node: a}, Key: uint32(a),
	})
	e.openTopology(now)
	e.events.Push(Event{Kind: AddressSettled, Node: a})
}

// Leave ends contact with all nodes: each is told once, and before, what has come from it, so
// that it does not count that as lost. What others have not acknowledged is lost.
func (e *Engine) Leave(now time.Duration) {
	for _, n := range e.nodes {
		for _, l := range n.links {
			if l != nil && l.IsUp() {
				l.Report(now)
				e.after(now, l)
			}
		}
		e.giveUp(now, n)
	}
	e.reapFailed(now)
	for _, n := range e.nodes {
		for _, l := range n.links {
			if l != nil {
				e.end(l)
			}
		}
		n.bcast.Reset()
	}
	e.slow = flowctl.Never
	for _, b := range e.bearers {
		b.next = flowctl.Never
	}
}

// Hurry asks every node that has something to acknowledge to do so at once.
func (e *Engine) Hurry(now time.Duration) {
	for _, n := range e.nodes {
		for _, l := range n.links {
			if l != nil && !l.Idle() {
				l.Probe(now)
				e.after(now, l)
			}
		}
	}
	if e.ups > 0 {
		e.askMembers(now)
	}
}

// Unsent is the number of messages other nodes have not acknowledged, and that connections
// to them have still to send, and of bindings that are still to be withdrawn.
func (e *Engine) Unsent() int {
	sum := len(e.unbinding.bindings)
	if e.ups > 0 {
		sum += e.cast.Unacked() + e.cast.Backlog()
	}
	for _, n := range e.nodes {
		sum += n.unsentHeld()
		for _, l := range n.links {
			if l != nil && l.IsUp() {
				sum += l.Unacked() + l.Backlog() + l.Moving()
			}
		}
	}
	return sum
}
