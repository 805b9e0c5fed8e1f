// SPDX-License-Identifier: Apache-2.0

package idle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/stack/carrier/udp"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Sets is the table of utipc-lab bench idle.
var Sets = []sheet.Set[Options]{
	{Name: "idle", What: "wake-ups a second of nodes over each carrier", Ready: station.Ready, Measure: func(ctx context.Context, o Options) []sheet.Row {
		samples, err := Measure(ctx, o)
		if err != nil {
			return []sheet.Row{{ID: "idle", What: "wake-ups a second", Error: err.Error()}}
		}
		return Rows(samples)
	}},
}

// Report measures, and makes the table. Interrupted, it reports what it has, with ctx's error.
func Report(ctx context.Context, o Options, only *regexp.Regexp, progress io.Writer) (*sheet.Report, error) {
	r := &sheet.Report{Name: "idle", Title: "Idle nodes", Plan: o, Head: []string{
		station.ThisMachine([2]int{}).String(), fmt.Sprintf("all nodes in one process; counted for %v, after %v", o.For, o.Settle),
	}}
	return r, sheet.Measure(ctx, r, Sets, only, o, progress)
}

// A carrier opens the devices of two nodes that reach each other.
type carrier struct {
	name string
	open func(end int, b *bed.Bed, h *hub.Hub) (netdev.Device, error)
}

var carriers = []carrier{
	{"hub", func(end int, _ *bed.Bed, h *hub.Hub) (netdev.Device, error) {
		return h.Port(fmt.Sprint("hub", end), frame.MAC{2, 0, 0, 0, 0, byte(end + 1)})
	}},
	{"AF_XDP", driver(worker.XDP)},
	{"AF_PACKET", driver(worker.Packet)},
	{"UDP, the other named", driver(worker.UDP)},
	{"UDP, a multicast group", func(end int, b *bed.Bed, _ *hub.Hub) (d netdev.Device, err error) {
		err = b.Do(end, func() error {
			d, err = udp.Open(udp.Config{Local: netip.AddrPortFrom(addrs[end], 0), Multicast: udp.Group(4711, addrs[end]), Interface: b.Name(end)})
			return err
		})
		return d, err
	}},
}

var addrs = [2]netip.Addr{netip.MustParseAddr("10.118.0.1"), netip.MustParseAddr("10.118.0.2")}

func driver(name string) func(end int, b *bed.Bed, _ *hub.Hub) (netdev.Device, error) {
	return func(end int, b *bed.Bed, _ *hub.Hub) (d netdev.Device, err error) {
		err = b.Do(end, func() error {
			d, _, err = worker.OpenDevice(worker.Open{End: end, Iface: b.Name(end), Driver: name, Addrs: [2]string{addrs[0].String(), addrs[1].String()}})
			return err
		})
		return d, err
	}
}

// Measure opens all nodes at once, each with a network of its own, lets them settle and
// counts. It needs root. Errors: no namespaces; the context's.
func Measure(ctx context.Context, o Options) (samples []Sample, err error) {
	dir, err := os.MkdirTemp("", "utipc-idle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var nodes []*stack.Node // of the samples
	for _, c := range carriers {
		for _, isDaemon := range []bool{false, true} {
			for peers := range 2 {
				s := Sample{Carrier: c.name, Daemon: isDaemon, Peers: peers}
				b, err := bed.New(bed.Options{})
				if err != nil {
					return nil, err
				}
				defer b.Close()
				h := hub.New(hub.Config{})
				var n *stack.Node
				for end := range 1 + peers {
					x, close, err := open(ctx, c, end, b, h, isDaemon && end == 0, filepath.Join(dir, fmt.Sprint(len(samples))))
					if err != nil {
						s.Err = err
						break
					}
					defer close()
					if end == 0 {
						n = x
					}
				}
				samples, nodes = append(samples, s), append(nodes, n)
			}
		}
	}
	for i, n := range nodes {
		if n != nil && samples[i].Err == nil {
			samples[i].Err = awaitLinks(ctx, n, samples[i].Peers)
		}
	}
	if err := pause(ctx, o.Settle); err != nil {
		return nil, err
	}
	first, began := make([]uint64, len(nodes)), time.Now()
	for i, n := range nodes {
		if n != nil {
			first[i] = must.Get(n.Admin().Stats(context.Background())).WakeUps
		}
	}
	if err := pause(ctx, o.For); err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	for i, n := range nodes {
		if n != nil {
			samples[i].WakeUps = float64(must.Get(n.Admin().Stats(context.Background())).WakeUps-first[i]) / seconds
		}
	}
	return samples, nil
}

// meeting is how long two nodes may take to find each other.
const meeting = time.Minute

// awaitLinks waits until so many links are up.
func awaitLinks(ctx context.Context, n *stack.Node, links int) error {
	for end := time.Now().Add(meeting); linksUp(n) != links; {
		if time.Now().After(end) {
			return fmt.Errorf("%d links are up, not %d", linksUp(n), links)
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func linksUp(n *stack.Node) (up int) {
	for _, l := range must.Get(n.Admin().Links(context.Background())) {
		if l.Up {
			up++
		}
	}
	return up
}

// open starts a node, with a daemon's server if it is one's.
func open(ctx context.Context, c carrier, end int, b *bed.Bed, h *hub.Hub, isDaemon bool, path string) (_ *stack.Node, close func(), err error) {
	if err := b.Namespace(end).SetAddress(b.Name(end), addrs[end]); err != nil {
		return nil, nil, err
	}
	d, err := c.open(end, b, h)
	if err != nil {
		return nil, nil, err
	}
	n, err := stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{d}, Address: stack.NodeAddr(0x1001001 + end), GoPoller: isDaemon})
	if err != nil {
		return nil, nil, err
	}
	close = func() { n.Close(ended) }
	if !isDaemon {
		return n, close, nil
	}
	l, err := attach.Listen(path, 0o600, -1)
	if err != nil {
		close()
		return nil, nil, err
	}
	srv, err := daemon.New(n, daemon.Config{})
	if err != nil {
		l.Close()
		close()
		return nil, nil, err
	}
	go srv.Serve(l)
	return n, func() {
		srv.Shutdown(ended, "the measurement is over")
		n.Close(ended)
	}, nil
}

// ended is the context of calls that are not to wait.
var ended = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("the measurement is over"))
	return ctx
}()

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
