// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/engine"
)

// A BearerConfig is what a bearer that is enabled on a running node begins with, or
// what of it is to change. Zero fields mean the medium's values, or no change.
type BearerConfig struct {
	LinkConfig
	MTU    int      // of a bearer over UDP, bytes of a message, at most the device's; 0: the device's
	Domain NodeAddr // discovery answers nodes of it only: 0 all, Z.0.0 a zone's, Z.C.0 a cluster's, else one node
}

// farewell is how long DisableBearer waits for a device that is full to take the last
// frames.
const farewell = time.Second

// EnableBearer makes dev one more bearer of the running node, at most three; the node
// owns it from now on, and closes it if this fails. The device's names must differ.
// Other nodes are looked for there at once. When the node has no address yet
// (Config.NoBearers) EnableBearer waits until it is settled, for a second of trial.
// The third bearer of one priority has the next lower one, as a kernel's.
//
// Errors, inside *net.OpError: a *Refusal with EINVAL, "Already enabled." for a second
// device of a name, ErrConfig where the settings cannot be, or the node's memory was
// made for shorter frames (Config.MTU); net.ErrClosed; the context's; the device's own;
// errors.ErrUnsupported of an attached node, which has RequestBearer.
func (n *Node) EnableBearer(ctx context.Context, dev Device, c BearerConfig) error {
	if dev == nil {
		return opError("enable bearer", "tipc", nil, nil, refused(fmt.Errorf("%w: no device", ErrConfig)))
	}
	if n.far != nil {
		dev.Close()
		return opError("enable bearer", "tipc", nil, nil, errors.ErrUnsupported)
	}
	if err := n.enable(ctx, dev, c); err != nil {
		dev.Close()
		return opError("enable bearer", "tipc", nil, nil, refused(err))
	}
	return nil
}

func (n *Node) enable(ctx context.Context, dev Device, c BearerConfig) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n.mu.Lock()
	if n.closing {
		n.unlock()
		return net.ErrClosed
	}
	a, err := n.join(dev, c)
	if err == nil {
		if err = n.regroup(); err != nil {
			n.detach(a)
		}
	}
	if err != nil {
		n.unlock()
		return err
	}
	n.retap()
	n.announce(a, BearerEnabled)
	n.lap(n.now(), false)
	n.rouseSeats()
	settled := n.eng.Address() != 0
	n.unlock()
	if settled {
		return nil
	}
	if err := n.settled(ctx); err != nil {
		n.disable(context.Background(), a)
		return err
	}
	return nil
}

// join attaches a device as one more bearer. After it comes regroup.
func (n *Node) join(d Device, c BearerConfig) (*attachment, error) {
	name := d.Name()
	if n.named(name) != nil {
		return nil, refuse(syscall.EINVAL, "Already enabled.")
	}
	if len(n.attached) >= engine.MaxBearers {
		return nil, fmt.Errorf("%w: more than %d bearers", ErrConfig, engine.MaxBearers)
	}
	a := &attachment{dev: d, mtu: d.MTU(), limit: c.MTU}
	if most := n.arena.Largest() - frame.EthernetLen; n.pumping() && n.longest(a) > most {
		return nil, fmt.Errorf("%w: %s carries messages of %d bytes, the node's memory was made for %d (Config.MTU)", ErrConfig, name, n.longest(a), most)
	}
	if err := checkMTU(a, c.MTU); err != nil {
		return nil, err
	}
	links := n.beginWith(a, c.LinkConfig)
	if err := d.Attach(n.arena, n.wakeDevices); err != nil {
		return nil, fmt.Errorf("attach %s: %w", name, err)
	}
	var err error
	a.id, err = n.eng.AddBearer(n.now(), engine.BearerConfig{
		Name: name, MAC: d.Addr(), MTU: n.carriedOn(a), LinkConfig: links, Medium: mediumOf(d), Domain: c.Domain,
	})
	if err != nil {
		return nil, err
	}
	if l, ok := d.(LevelTriggered); ok {
		a.level = l.LevelTriggered()
	}
	n.attached = append(n.attached, a)
	return a, nil
}

// pumping reports whether the node runs, which it does not before the end of Open.
func (n *Node) pumping() bool { return n.callSeat.bell.Load() != nil }

// longest is the longest message that a bearer may carry, whatever the memory.
func (n *Node) longest(a *attachment) int {
	if a.limit > 0 {
		return min(a.mtu, a.limit)
	}
	return a.mtu
}

// beginWith is what the links of a new bearer begin with: what c says, else
// Config.Links, else its medium.
func (n *Node) beginWith(a *attachment, c LinkConfig) LinkConfig {
	of := n.media[a.medium()]
	given := overlaid(c, n.cfg.Links[a.dev.Name()])
	whole := overlaid(given, of.links())
	if given.Priority == 0 {
		for whole.Priority > 1 && n.withPriority(whole.Priority) >= 2 {
			whole.Priority--
		}
	}
	return whole
}

// withPriority counts the bearers of a priority.
func (n *Node) withPriority(p uint8) (k int) {
	for _, a := range n.attached {
		if n.eng.Bearer(a.id).Priority == p {
			k++
		}
	}
	return k
}

// overlaid is a with what it leaves open from b. A window that a sets alone is one that
// never moves.
func overlaid(a, b LinkConfig) LinkConfig {
	if a.Tolerance == 0 {
		a.Tolerance = b.Tolerance
	}
	if a.Priority == 0 {
		a.Priority = b.Priority
	}
	if a.Window == 0 && a.MaxWindow == 0 {
		a.Window, a.MaxWindow = b.Window, b.MaxWindow
	}
	return a
}

// regroup follows a change of the list of bearers: what laps and seats know of all of
// them together. Errors: those of a descriptor to be woken by.
func (n *Node) regroup() error {
	polled, any := len(n.attached) > 0, false
	var peekers []Peeker
	for _, a := range n.attached {
		fd := a.dev.FD() >= 0
		polled, any = polled && fd, any || fd
		if p, ok := a.dev.(Peeker); ok {
			peekers = append(peekers, p)
		}
	}
	if any {
		for _, s := range []*seat{&n.callSeat, &n.pumpSeat} {
			if err := s.needDescriptors(n.cfg.GoPoller); err != nil {
				return err
			}
		}
	}
	if len(peekers) < len(n.attached) {
		peekers = nil
	}
	n.polled, n.peekers = polled, peekers
	switch {
	case !n.polled:
		n.yield = 1 // the other end may be in this process
	case !n.parallel:
		n.yield = yieldAfter
	default:
		n.yield = 0
	}
	n.generation++
	return nil
}

// rouseSeats makes whoever sleeps look, and take over the list of bearers.
func (n *Node) rouseSeats() {
	n.callSeat.rouse()
	n.pumpSeat.rouse()
	signal(n.pumpWake)
}

// DisableBearer takes the bearer of that name, "eth0" or "eth:eth0", out of use and
// closes its device. What its links still had goes over other bearers, nothing of it is
// lost; nodes that no other bearer leads to are told, and contact with them ends.
// A device that is full is given a second for the last frames, or until ctx is done.
// Errors, inside *net.OpError: a *Refusal with EINVAL, "Bearer not found.";
// net.ErrClosed; the device's own.
func (n *Node) DisableBearer(ctx context.Context, name string) error {
	if n.far != nil {
		return n.far.call(ctx, "disable-bearer", name, nil)
	}
	n.mu.Lock()
	a, ended := n.bearer(name), n.closing
	n.unlock()
	err := errNoBearer()
	switch {
	case ended:
		err = net.ErrClosed
	case a != nil:
		err = n.disable(ctx, a)
	}
	if err != nil {
		return opError("disable bearer", "tipc", nil, nil, err)
	}
	return nil
}

func errNoBearer() error { return refuse(syscall.EINVAL, "Bearer not found.") }

func (n *Node) disable(ctx context.Context, a *attachment) error {
	n.mu.Lock()
	switch {
	case n.closing:
		n.unlock()
		return net.ErrClosed
	case a.leaving:
		n.unlock()
		return errNoBearer()
	}
	a.leaving = true
	n.eng.RemoveBearer(n.now(), a.id)
	n.lap(n.now(), false)
	n.wait(func() bool { return ctx.Err() == nil && (a.n > 0 || n.eng.Outgoing(a.id) > 0) }, farewell)
	n.detach(a)
	n.announce(a, BearerDisabled)
	n.unlock()

	err := a.dev.Close()
	n.mu.Lock()
	defer n.unlock()
	n.buried = append(n.buried, burial{a.dev, n.generation})
	n.bury()
	n.rouseSeats()
	n.wait(func() bool { return slices.ContainsFunc(n.buried, func(b burial) bool { return b.dev == a.dev }) }, farewell)
	return err
}

// wait waits as long as something is so, at most for d or until the node ends.
func (n *Node) wait(so func() bool, d time.Duration) {
	var waiting waitList
	w := n.begin(&waiting)
	defer n.end(&waiting, w)
	for by := time.Now().Add(d); so(); {
		at := time.Now().Add(retry)
		if n.closing || at.After(by) {
			return
		}
		n.block(w, at)
	}
}

// detach takes a bearer out of the list. Frames that are left are lost.
func (n *Node) detach(a *attachment) {
	n.eng.RemoveBearer(n.now(), a.id)
	n.abandon(a)
	n.attached = slices.DeleteFunc(slices.Clone(n.attached), func(x *attachment) bool { return x == a })
	n.regroup() // needs nothing more than before
	n.rouseSeats()
}

// abandon gives back the frames that a bearer's device has not taken.
func (n *Node) abandon(a *attachment) {
	for i, f := range a.unsent[:a.n] {
		f.Release()
		a.unsent[i] = nil
	}
	a.n = 0
	n.eng.Abandon(a.id)
}

// A burial is a device that is closed, but whose descriptor may still be polled by who
// sleeps with an older list of bearers: until that ends what the descriptor stood for,
// an address that is bound, say, is not free either.
type burial struct {
	dev        Device
	generation int
}

// bury lets go of the descriptors that nobody polls any more.
func (n *Node) bury() {
	n.buried = slices.DeleteFunc(n.buried, func(b burial) bool {
		for _, s := range []*seat{&n.callSeat, &n.pumpSeat} {
			if s.inside && s.fitted < b.generation {
				return false
			}
		}
		b.dev.Receive(nil) // which answers net.ErrClosed, and closes the descriptor
		return true
	})
}

// bearer returns the bearer of a name, with or without its medium in front, or nil.
func (n *Node) bearer(name string) *attachment {
	if a := n.named(name); a != nil && !a.leaving {
		return a
	}
	for _, a := range n.attached {
		if !a.leaving && a.fullName() == name {
			return a
		}
	}
	return nil
}

// named returns the bearer whose device has the name, though it be about to leave.
func (n *Node) named(name string) *attachment {
	for _, a := range n.attached {
		if a.dev.Name() == name {
			return a
		}
	}
	return nil
}

// byID returns the bearer with a number of the engine's.
func (n *Node) byID(id int) *attachment {
	for _, a := range n.attached {
		if a.id == id {
			return a
		}
	}
	return nil
}

// fullName is the bearer's name as tipc(8) says it.
func (a *attachment) fullName() string { return a.medium().String() + ":" + a.dev.Name() }

// announce logs that a bearer comes or goes, and tells who watches.
func (n *Node) announce(a *attachment, kind EventKind) {
	attrs := []slog.Attr{slog.String("bearer", a.dev.Name())}
	if kind == BearerEnabled {
		attrs = append(attrs, slog.Int("mtu", a.mtu))
	}
	n.logs.add(slog.LevelInfo, strings.ToLower(kind.String()), attrs...)
	n.tellWatches(NodeEvent{Kind: kind, Bearer: a.dev.Name()})
}

// bearerTurned tells that a bearer's interface began or ended to carry.
func (n *Node) bearerTurned(a *attachment, up bool) {
	kind := BearerDown
	if up {
		kind = BearerUp
	}
	n.tellWatches(NodeEvent{Kind: kind, Bearer: a.dev.Name()})
}
