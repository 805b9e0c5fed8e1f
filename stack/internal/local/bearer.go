// SPDX-License-Identifier: Apache-2.0

package local

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
	"github.com/utipc/utipc/stack/internal/backend"
	"github.com/utipc/utipc/stack/internal/poll"
)

// AddDevice implements admin.Admin.
func (n *Node) AddDevice(ctx context.Context, dev netdev.Device, c admin.BearerConfig) error {
	if dev == nil {
		return backend.OpError("enable bearer", "tipc", nil, nil, backend.Refused(fmt.Errorf("%w: no device", engine.ErrConfig)))
	}
	if err := n.enable(ctx, dev, c); err != nil {
		return backend.OpError("enable bearer", "tipc", nil, nil, backend.Refused(err))
	}
	return nil
}

// enable takes a device as one more bearer, and closes one that it does not take.
func (n *Node) enable(ctx context.Context, dev netdev.Device, c admin.BearerConfig) error {
	if err := ctx.Err(); err != nil {
		dev.Close()
		return err
	}
	n.loop.Lock()
	if n.closing {
		n.loop.Unlock()
		dev.Close()
		return net.ErrClosed
	}
	a, err := n.join(dev, c)
	if err == nil {
		if err = n.regroup(); err != nil {
			n.detach(a)
		}
	}
	if err != nil {
		n.loop.Unlock()
		dev.Close()
		if a != nil {
			dev.Receive(nil) // nobody polls its descriptor, which goes with net.ErrClosed
		}
		return err
	}
	n.retap()
	n.announce(a, admin.BearerEnabled)
	n.pollOnce(n.loop.Now(), false)
	n.loop.WakeAll()
	settled := n.eng.Address() != 0
	n.loop.Unlock()
	if settled {
		return nil
	}
	if err := n.settled(ctx); err != nil {
		n.disable(context.Background(), a)
		return err
	}
	return nil
}

// join attaches a device as one more bearer. After it comes regroup. With an error there is an
// attachment if the device was attached.
func (n *Node) join(d netdev.Device, c admin.BearerConfig) (*attachment, error) {
	name := d.Name()
	if n.named(name) != nil {
		return nil, backend.Refuse(syscall.EINVAL, "Already enabled.")
	}
	if len(n.attached) >= engine.MaxBearers {
		return nil, fmt.Errorf("%w: more than %d bearers", engine.ErrConfig, engine.MaxBearers)
	}
	a := &attachment{Source: poll.Source{Device: d}, mtu: d.MTU(), limit: c.MTU}
	if most := n.arena.Largest() - frame.EthernetLen; n.complete && n.longest(a) > most {
		return nil, fmt.Errorf("%w: %s carries messages of %d bytes, the node's memory was made for %d (Config.MTU)", engine.ErrConfig, name, n.longest(a), most)
	}
	if err := checkMTU(a, c.MTU); err != nil {
		return nil, err
	}
	links := n.beginWith(a, c.LinkConfig)
	if err := d.Attach(n.arena, n.loop.Wake); err != nil {
		return nil, fmt.Errorf("attach %s: %w", name, err)
	}
	var err error
	a.id, err = n.eng.AddBearer(n.loop.Now(), engine.BearerConfig{
		Name: name, MAC: d.Addr(), MTU: n.carriedOn(a), LinkConfig: links, Medium: mediumOf(d), Domain: c.Domain,
	})
	if err != nil {
		return a, err
	}
	if l, ok := d.(netdev.LevelTriggered); ok {
		a.level = l.LevelTriggered()
	}
	if p, ok := d.(netdev.Prefetcher); ok && p.Prefetches() {
		a.least = batchWidth
		a.width = batchWidth
	}
	n.attached = append(n.attached, a)
	return a, nil
}

// longest is the longest message that a bearer may carry, whatever the memory.
func (n *Node) longest(a *attachment) int {
	if a.limit > 0 {
		return min(a.mtu, a.limit)
	}
	return a.mtu
}

// beginWith is what the links of a new bearer begin with: what c says, else
// Config.Links, else its medium.
func (n *Node) beginWith(a *attachment, c engine.LinkConfig) engine.LinkConfig {
	of := n.media[a.medium()]
	given := overlaid(c, n.cfg.Links[a.Device.Name()])
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

// regroup has the leader listen to the bearers there are now. Errors: those of a descriptor
// to be woken by.
func (n *Node) regroup() error {
	sources := make([]*poll.Source, len(n.attached))
	for i, a := range n.attached {
		sources[i] = &a.Source
	}
	return n.loop.SetSources(sources)
}

// announce logs that a bearer comes or goes, and tells who watches.
func (n *Node) announce(a *attachment, kind admin.EventKind) {
	attrs := []slog.Attr{slog.String("bearer", a.Device.Name())}
	if kind == admin.BearerEnabled {
		attrs = append(attrs, slog.Int("mtu", a.mtu))
	}
	n.logs.add(slog.LevelInfo, strings.ToLower(kind.String()), attrs...)
	n.tellWatches(admin.NodeEvent{Kind: kind, Bearer: a.Device.Name()})
}

// bearerTurned tells that a bearer's interface began or ended to carry.
func (n *Node) bearerTurned(a *attachment, up bool) {
	kind := admin.BearerDown
	if up {
		kind = admin.BearerUp
	}
	n.tellWatches(admin.NodeEvent{Kind: kind, Bearer: a.Device.Name()})
}

// overlaid is a with what it leaves open from b. A window that a sets alone is one that
// never moves.
func overlaid(a, b engine.LinkConfig) engine.LinkConfig {
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
