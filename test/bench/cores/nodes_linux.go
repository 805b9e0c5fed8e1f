// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/xdp"
)

const (
	nodes   = 3           // the sender, and two peers
	meeting = time.Minute // how long they may take to find each other, and a message to arrive
	typ     = 18888       // service type; instance i is at node i

	// tolerance is that of links: this process may stand still for seconds beside others' work.
	tolerance = 20 * time.Second

	receiveLimit = 64 << 20 // bytes of a peer's socket; senders keep within
)

// A network opens the device of a node.
type network struct {
	open  func(i int) (stack.Bearer, error)
	close func()
}

// memory is a network in this process.
func memory() (network, error) {
	h := hub.New(hub.Config{})
	return network{
		open: func(i int) (stack.Bearer, error) {
			return h.Port(fmt.Sprint("hub", i), frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		},
		close: func() {},
	}, nil
}

// veth is a bridge with an interface in a namespace for each node.
func veth(driver xdp.Config) (network, error) {
	s, err := bed.NewSegment(nodes, 1500)
	if err != nil {
		return network{}, err
	}
	return network{
		open: func(i int) (b stack.Bearer, err error) {
			err = s.Do(i, func() (err error) { b, err = xdp.Open(s.Name(i), &driver); return err })
			return b, err
		},
		close: s.Close,
	}, nil
}

// A cluster is the nodes, the sender first, with a socket that reads on each of the others.
type cluster struct {
	network network
	nodes   []*stack.Node
	readers []*reader
}

func openCluster(ctx context.Context, n network) (c *cluster, err error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	c = &cluster{network: n}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	for i := range nodes {
		b, err := n.open(i)
		if err != nil {
			return c, err
		}
		var x *stack.Node
		labelled(ctx, i, func(ctx context.Context) { // the node's goroutines have the label
			x, err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{b}, Address: stack.NodeAddr(0x1001001 + i), Wait: stack.Sleep, Tolerance: tolerance})
		})
		if err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, x)
	}
	for i, x := range c.nodes[1:] {
		s, err := stack.SocketConfig{ReceiveLimit: receiveLimit}.ListenPacket(ctx, x, "tipcrdm", service(i))
		if err != nil {
			return c, err
		}
		labelled(ctx, 1+i, func(context.Context) { c.readers = append(c.readers, newReader(s)) })
	}
	for i := range c.readers {
		if err := c.nodes[0].WaitFor(ctx, service(i)); err != nil {
			return c, err
		}
	}
	return c, nil
}

// service is the name of a peer's socket.
func service(peer int) stack.Service { return stack.Service{Type: typ, Instance: uint32(peer)} }

// labelled calls f with the label of node i, which goroutines that it starts have, too.
func labelled(ctx context.Context, i int, f func(ctx context.Context)) {
	label := labelPeer
	if i == 0 {
		label = labelSender
	}
	pprof.Do(ctx, pprof.Labels(labelKey, label), f)
}

func (c *cluster) close() (err error) {
	for _, r := range c.readers {
		err = errors.Join(err, r.close())
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, x := range c.nodes {
		x.Close(ctx) // the others need not hear of it
	}
	c.network.close()
	return err
}
