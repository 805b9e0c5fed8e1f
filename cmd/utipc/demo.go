// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/internal/quantile"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
)

var demoCommand = cmdline.Command{
	Name:  "demo",
	Short: "a cluster of three nodes in this process, in under ten seconds",
	Usage: `utipc demo: a cluster of three nodes in this process, in under ten seconds.

Three nodes on a network in memory choose addresses, find each other, publish
services and exchange messages by name; then one of them loses power. Needs no
privilege and no configuration. The last line is "demo: ok". On a terminal it is in
colour, unless NO_COLOR is set, and says what takes longer than a second.

    utipc demo

{flags}
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		flags := cmdline.NewFlags("demo")
		veth := flags.Bool("veth", false, "not in memory, but between two network namespaces with a veth pair between them, through the driver that serves "+
			"each interface best. Needs root and Linux. What it makes is gone when it ends, however it ends; the interfaces of this host are left "+
			"alone.")
		encrypt := flags.Bool("encrypt", false, "with a master key, made for this run, that all three have: every frame is sealed")
		if _, err := cmdline.Parse(flags, args, 0, 0); err != nil {
			return err
		}
		var network demoNetwork = newDemoHub()
		if *veth {
			var err error
			if network, err = newDemoVeth(); err != nil {
				return err
			}
		}
		defer network.close()
		screen := newDemoScreen(std)
		defer screen.close()
		err := runDemo(ctx, screen, network, *encrypt)
		if err != nil && ctx.Err() != nil {
			return errors.New("interrupted") // whatever came of that in each node
		}
		return err
	},
}

// What the demo's services are called.
var (
	demoShared = stack.Service{Type: 18888, Instance: 1} // bound on all three nodes

	// demoRoom is for all the messages that one socket gets, which may be late to read them where other programs
	// use the processors: messages without a connection are dropped where there is no room.
	demoRoom = stack.SocketConfig{ReceiveLimit: 64 << 20}
	demoOwn  = uint32(18889) // type; the instance is the node's number
)

const (
	demoTrips    = 20000           // round trips measured, or for demoPhase
	demoMessages = 300000          // messages sent one way, or for demoPhase
	demoPhase    = 2 * time.Second // longest time for either
)

// A demoNode is one member of the demo's cluster.
type demoNode struct {
	name   string
	node   *stack.Node
	wire   *fault.Injector
	shared *stack.PacketConn
	own    *stack.PacketConn
	got    atomic.Int64 // messages to the shared service
}

// A demoRun is the demo under way.
type demoRun struct {
	*demoScreen
	ctx     context.Context
	network demoNetwork
	key     stack.Key // none: frames are plain
	nodes   []*demoNode
	tasks   sync.WaitGroup
}

// runDemo is the command; it shows what it does on screen.
func runDemo(ctx context.Context, screen *demoScreen, network demoNetwork, encrypt bool) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	d := &demoRun{demoScreen: screen, ctx: ctx, network: network}
	defer d.closeNodes()
	if encrypt {
		if err := d.makeKey(); err != nil {
			return err
		}
		defer d.key.Wipe()
	}
	if err := d.boot(); err != nil {
		return err
	}
	trips, tripTime, err := d.roundTrips()
	if err != nil {
		return err
	}
	sent, sendTime, err := d.oneWay(demoMessages)
	if err != nil {
		return err
	}
	castTime, err := d.multicast()
	if err != nil {
		return err
	}
	if err := d.sealed(); err != nil {
		return err
	}
	detected, err := d.powerLoss()
	if err != nil {
		return err
	}
	slices.Sort(trips)
	at := func(q float64) time.Duration { return quantile.Of(trips, q) }
	d.print(fmt.Sprintf(`
what                             count        rate     p50        p99      p99.9
round trips, 64 B, by name    %8d  %7.0f/s  %6s  %9s  %9s
one way, 64 B, by name        %8d  %7.0f/s
multicast, 64 B, to three     %8d  %7.0f/s
dead node noticed after       %8s  (limits 1.5s to 2.25s)
demo: ok
`, len(trips), float64(len(trips))/tripTime.Seconds(), micro(at(0.5)), micro(at(0.99)), micro(at(0.999)),
		sent, float64(sent)/sendTime.Seconds(), demoMulticasts, demoMulticasts/castTime.Seconds(), detected.Round(10*time.Millisecond)))
	return nil
}

func micro(d time.Duration) string { return fmt.Sprintf("%.1fµs", float64(d)/1e3) }

// boot opens three nodes, gives each its services, and waits until each knows all
// names.
func (d *demoRun) boot() error {
	d.say("three nodes are plugged into %s and try addresses on it", d.network.is())
	d.waits("the nodes try addresses")
	d.nodes = make([]*demoNode, 3)
	errs := make([]error, 3)
	var opening sync.WaitGroup
	for i, name := range []string{"alpha", "beta", "gamma"} {
		opening.Go(func() { d.nodes[i], errs[i] = d.open(i, name) })
	}
	opening.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, line := range d.network.drivers() {
		d.say("%s", line)
	}
	for i, n := range d.nodes {
		d.say("%-5s is node %v and publishes %v and %v", n.name, n.node.Addr(), demoShared, d.service(i))
		d.serve(n)
	}
	d.waits("links come up and names are told")
	for _, n := range d.nodes {
		for i, other := range d.nodes {
			for _, s := range []stack.Service{d.service(i), {Type: demoShared.Type, Instance: demoShared.Instance, Node: other.node.Addr()}} {
				if err := n.node.WaitFor(d.ctx, s); err != nil {
					return err
				}
			}
		}
	}
	d.say("links are up, every node knows all names")
	names, err := d.nodes[0].node.Admin().Names(d.ctx)
	if err != nil {
		return err
	}
	for _, b := range names {
		if b.Scope == stack.ClusterScope && b.Range.Type > stack.LinkState { // not those of nodes
			d.say("    %-7s at %v", rangeText(b.Range), b.Socket)
		}
	}
	return nil
}

func (d *demoRun) service(i int) stack.Service {
	return stack.Service{Type: demoOwn, Instance: uint32(i + 1)}
}

func (d *demoRun) open(i int, name string) (*demoNode, error) {
	id, err := stack.ParseIdentity(name)
	if err != nil {
		return nil, err
	}
	port, err := d.network.plug(i, name)
	if err != nil {
		return nil, err
	}
	n := &demoNode{name: name, wire: fault.New(port, fault.Config{})}
	if n.node, err = stack.Open(d.ctx, stack.Config{Bearers: []stack.Bearer{n.wire}, Identity: id, Encryption: d.encryption()}); err != nil {
		return nil, err
	}
	if n.shared, err = demoRoom.ListenPacket(d.ctx, n.node, "tipcrdm", demoShared); err != nil {
		return nil, err
	}
	n.own, err = n.node.ListenPacket(d.ctx, "tipcrdm", d.service(i))
	return n, err
}

// serve counts what arrives at the shared service and echoes what arrives at the
// node's own.
func (d *demoRun) serve(n *demoNode) {
	d.tasks.Go(func() {
		b := make([]byte, 64)
		for {
			if _, _, err := n.shared.ReadFrom(b); err != nil {
				return
			}
			n.got.Add(1)
		}
	})
	d.tasks.Go(func() {
		b := make([]byte, 64)
		for {
			k, from, err := n.own.ReadFrom(b)
			if err != nil {
				return
			}
			if _, err := n.own.WriteTo(b[:k], from); err != nil {
				return
			}
		}
	})
}

// roundTrips measures an echo by name from alpha to beta.
func (d *demoRun) roundTrips() (trips []time.Duration, total time.Duration, err error) {
	c, err := d.nodes[0].node.ListenPacket(d.ctx, "tipcrdm", nil)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	var to net.Addr = d.service(1)
	d.waits("alpha asks beta by name")
	b := make([]byte, 64)
	begin := time.Now()
	for range demoTrips {
		at := time.Now()
		if _, err := c.WriteTo(b, to); err != nil {
			return nil, 0, err
		}
		if _, _, err := c.ReadFrom(b); err != nil {
			return nil, 0, err
		}
		trips = append(trips, time.Since(at))
		if time.Since(begin) > demoPhase {
			break
		}
	}
	total = time.Since(begin)
	d.say("alpha asked beta by name %d times and was answered each time", len(trips))
	return trips, total, nil
}

// oneWay sends messages from alpha to the shared service, whose three sockets
// take turns, and waits until all have arrived.
func (d *demoRun) oneWay(count int) (sent int64, total time.Duration, err error) {
	c, err := d.nodes[0].node.ListenPacket(d.ctx, "tipcrdm", nil)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	var to net.Addr = demoShared
	var before int64
	var each [3]int64
	for i, n := range d.nodes {
		each[i] = n.got.Load()
		before += each[i]
	}
	b := make([]byte, 64)
	d.waits("alpha sends and the three receive")
	begin := time.Now()
	for int(sent) < count && (sent%256 != 0 || time.Since(begin) < demoPhase) {
		if _, err := c.WriteTo(b, to); err != nil {
			return 0, 0, err
		}
		sent++
	}
	for got := int64(0); got < sent; {
		got = -before
		for _, n := range d.nodes {
			got += n.got.Load()
		}
		if d.ctx.Err() != nil || time.Since(begin) > 20*time.Second {
			return 0, 0, fmt.Errorf("%d of %d messages arrived", got, sent)
		}
		if got < sent {
			time.Sleep(time.Millisecond)
		}
	}
	total = time.Since(begin)
	d.say("alpha sent %d messages to %v, each for one of its sockets:", sent, demoShared)
	d.say("    alpha got %d, beta %d, gamma %d",
		d.nodes[0].got.Load()-each[0], d.nodes[1].got.Load()-each[1], d.nodes[2].got.Load()-each[2])
	return sent, total, nil
}

// powerLoss cuts gamma off without a word and waits until its names are gone at
// alpha.
func (d *demoRun) powerLoss() (time.Duration, error) {
	alpha, gamma := d.nodes[0], d.nodes[2]
	sub, err := alpha.node.Subscribe(d.ctx, d.service(2).Range())
	if err != nil {
		return 0, err
	}
	defer sub.Close()
	d.say("gamma loses power")
	gamma.wire.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
	d.waits("alpha hears nothing of gamma")
	cut := time.Now()
	for ev := range sub.Events(d.ctx) {
		if ev.Withdrawn {
			break
		}
	}
	detected := time.Since(cut)
	names, err := alpha.node.Admin().Names(d.ctx)
	if err != nil {
		return 0, err
	}
	for _, b := range names {
		if b.Socket.Node == gamma.node.Addr() {
			return 0, fmt.Errorf("alpha still knows %v of the dead node", b.Range)
		}
	}
	if err := d.ctx.Err(); err != nil {
		return 0, fmt.Errorf("the dead node's names did not go: %w", err)
	}
	d.say("alpha has noticed, and gamma's names are gone")
	before := gamma.got.Load()
	if _, _, err := d.oneWay(1000); err != nil {
		return 0, err
	}
	if gamma.got.Load() != before {
		return 0, errors.New("the dead node received messages")
	}
	return detected, nil
}

// closeNodes ends the nodes; a dead node is not told.
func (d *demoRun) closeNodes() {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	for _, n := range d.nodes {
		if n != nil && n.node != nil {
			if err := n.node.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
				fmt.Fprintln(os.Stderr, "utipc:", err)
			}
		}
	}
	d.tasks.Wait()
}
