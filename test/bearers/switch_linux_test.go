// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// bridged are two nodes, 1001001 and 1001002, each in a namespace of its own, at ports p0 and p1 of
// a bridge in a third.
type bridged struct {
	t     *testing.T
	ports *netns.NS
	hosts [2]*netns.NS
	nodes [2]*stack.Node
}

func newBridged(t *testing.T) *bridged {
	b := &bridged{t: t, ports: netns.New(t)}
	b.ports.Run("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
	b.ports.Run("ip", "link", "set", "br0", "up")
	for i := range b.hosts {
		b.hosts[i] = netns.New(t)
		port := fmt.Sprint("p", i)
		netns.Veth(t, b.ports, b.hosts[i], port, "eth0", 1500)
		b.ports.Run("ip", "link", "set", port, "master", "br0")
	}
	return b
}

// open opens the nodes.
func (b *bridged) open(tolerance time.Duration) {
	b.t.Helper()
	for i, ns := range b.hosts {
		var d netdev.Device
		var err error
		ns.Do(func() { d, err = xdp.OpenPacket("eth0", nil) })
		if err != nil {
			b.t.Fatal(err)
		}
		n, err := stack.Open(within(b.t), stack.Config{
			Bearers: []stack.Bearer{d}, NoBearers: true, Tolerance: tolerance, Address: stack.NodeAddr(0x1001001 + i), Wait: stack.Sleep,
		})
		if err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { n.Close(context.Background()) })
		b.nodes[i] = n
	}
}

// set changes what the bridge passes on at the port of a node.
func (b *bridged) set(node int, what ...string) {
	b.ports.Run("bridge", append([]string{"link", "set", "dev", fmt.Sprint("p", node)}, what...)...)
}

// bind has a node say a name, which it broadcasts, and returns what takes the messages to it.
func (b *bridged) bind(node int, s stack.Service) *stack.PacketConn {
	c, err := b.nodes[node].ListenPacket(within(b.t), "tipcrdm", s)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	return c
}

// shows waits until the link of a node shows an impairment.
func (b *bridged) shows(node int, want engine.Impairment) {
	b.t.Helper()
	text := ""
	if want != engine.Unimpaired {
		text = want.String()
	}
	w := must.Get(b.nodes[node].Admin().Watch(context.Background()))
	defer w.Close()
	for {
		links := must.Get(b.nodes[node].Admin().Links(context.Background()))
		if len(links) == 1 && links[0].Impaired == text {
			return
		}
		if _, err := w.Next(within(b.t)); err != nil {
			b.t.Fatalf("links %+v, want one that shows %q: %v", links, text, err)
		}
	}
}

// A bridge that eats multicast at one port, passes nothing new to a port, or has a port of a smaller
// MTU: the nodes there say so, and that it is
// over. Mutations it catches: inspect looks at no castFrom, or no castTo; fail does not call suspectPath; hear notes
// nothing.
//
// Proves: link.impaired
func TestImpairedByABridge(t *testing.T) {
	netns.Require(t)
	service := stack.Service{Type: 18888, Instance: 17}
	var all sync.WaitGroup
	defer all.Wait()
	run := func(name string, f func(t *testing.T)) { all.Go(func() { t.Run(name, f) }) } // each waits for 10 s
	run("multicast", func(t *testing.T) {
		b := newBridged(t)
		b.open(tolerance)
		up(t, b.nodes[0], 1)
		b.set(1, "mcast_flood", "off", "bcast_flood", "off")
		b.bind(0, service)
		b.shows(1, engine.MulticastIn)
		b.shows(0, engine.MulticastOut)
		b.set(1, "mcast_flood", "on", "bcast_flood", "on")
		b.shows(1, engine.Unimpaired)
		b.shows(0, engine.Unimpaired)
	})
	run("one way", func(t *testing.T) {
		b := newBridged(t)
		b.set(1, "learning", "off", "flood", "off", "mcast_flood", "off", "bcast_flood", "off")
		b.open(tolerance)
		b.shows(0, engine.OneWay)
		b.set(1, "learning", "on", "flood", "on", "mcast_flood", "on", "bcast_flood", "on")
		b.shows(0, engine.Unimpaired)
		up(t, b.nodes[0], 1)
	})
	run("narrow", func(t *testing.T) {
		b := newBridged(t)
		b.open(time.Second) // ten of which pass before a path counts as narrow
		to, from := b.bind(1, service), b.bind(0, stack.Service{Type: 18888, Instance: 1})
		write := func() {
			t.Helper()
			if err := b.nodes[0].WaitFor(within(t), service); err != nil {
				t.Fatal(err)
			}
			if _, err := from.WriteTo(make([]byte, 4000), service); err != nil {
				t.Fatal(err)
			}
		}
		b.ports.Run("ip", "link", "set", "p1", "mtu", "1450")
		write()
		b.shows(0, engine.NarrowPath)
		write()
		to.SetDeadline(time.Now().Add(timeout))
		if n, _, err := to.ReadFrom(make([]byte, 5000)); n != 4000 || err != nil {
			t.Errorf("read %d bytes, %v", n, err)
		}
	})
}
