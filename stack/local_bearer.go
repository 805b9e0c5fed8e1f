// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"syscall"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// AddDevice implements admin.Admin.
func (n *localNode) AddDevice(ctx context.Context, dev netdev.Device, c admin.BearerConfig) error {
	if dev == nil {
		return opError("enable bearer", "tipc", nil, nil, refused(fmt.Errorf("%w: no device", ErrConfig)))
	}
	if err := n.enable(ctx, dev, c); err != nil {
		dev.Close()
		return opError("enable bearer", "tipc", nil, nil, refused(err))
	}
	return nil
}

func (n *localNode) enable(ctx context.Context, dev netdev.Device, c admin.BearerConfig) error {
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
	n.announce(a, admin.BearerEnabled)
	n.pollOnce(n.now(), false)
	n.rouseParkers()
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
func (n *localNode) join(d netdev.Device, c admin.BearerConfig) (*attachment, error) {
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
	if l, ok := d.(netdev.LevelTriggered); ok {
		a.level = l.LevelTriggered()
	}
	n.attached = append(n.attached, a)
	return a, nil
}

// pumping reports whether the node runs, which it does not before the end of Open.
func (n *localNode) pumping() bool { return n.callParker.waker.Load() != nil }

// longest is the longest message that a bearer may carry, whatever the memory.
func (n *localNode) longest(a *attachment) int {
	if a.limit > 0 {
		return min(a.mtu, a.limit)
	}
	return a.mtu
}

// beginWith is what the links of a new bearer begin with: what c says, else
// Config.Links, else its medium.
func (n *localNode) beginWith(a *attachment, c LinkConfig) LinkConfig {
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
func (n *localNode) withPriority(p uint8) (k int) {
	for _, a := range n.attached {
		if n.eng.Bearer(a.id).Priority == p {
			k++
		}
	}
	return k
}

// regroup follows a change of the list of bearers: what polls and parkers know of all of
// them together. Errors: those of a descriptor to be woken by.
func (n *localNode) regroup() error {
	polled, any := len(n.attached) > 0, false
	var readyDevices []netdev.Peeker
	for _, a := range n.attached {
		fd := a.dev.FD() >= 0
		polled, any = polled && fd, any || fd
		if p, ok := a.dev.(netdev.Peeker); ok {
			readyDevices = append(readyDevices, p)
		}
	}
	if any {
		for _, s := range []*parker{&n.callParker, &n.backgroundParker} {
			if err := s.needDescriptors(n.cfg.GoPoller); err != nil {
				return err
			}
		}
	}
	if len(readyDevices) < len(n.attached) {
		readyDevices = nil
	}
	n.polled, n.readyDevices = polled, readyDevices
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

// rouseParkers makes whoever sleeps look, and take over the list of bearers.
func (n *localNode) rouseParkers() {
	n.callParker.rouse()
	n.backgroundParker.rouse()
	signal(n.backgroundWake)
}

// announce logs that a bearer comes or goes, and tells who watches.
func (n *localNode) announce(a *attachment, kind admin.EventKind) {
	attrs := []slog.Attr{slog.String("bearer", a.dev.Name())}
	if kind == admin.BearerEnabled {
		attrs = append(attrs, slog.Int("mtu", a.mtu))
	}
	n.logs.add(slog.LevelInfo, strings.ToLower(kind.String()), attrs...)
	n.tellWatches(admin.NodeEvent{Kind: kind, Bearer: a.dev.Name()})
}

// bearerTurned tells that a bearer's interface began or ended to carry.
func (n *localNode) bearerTurned(a *attachment, up bool) {
	kind := admin.BearerDown
	if up {
		kind = admin.BearerUp
	}
	n.tellWatches(admin.NodeEvent{Kind: kind, Bearer: a.dev.Name()})
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
