// SPDX-License-Identifier: Apache-2.0

package sockets

import (
	"context"
	"fmt"
	"net"
	"runtime"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/bench/load"
)

// service is where end 1 listens.
var service = stack.Service{Type: 18888, Instance: 1}

// Idle is what one end of a connection keeps of the heap, in bytes, while nothing is
// under way: of so many between two nodes of this process, each of which has carried
// one message both ways.
func Idle(ctx context.Context, conns int) (bytes float64, err error) {
	h := hub.New(hub.Config{})
	var nodes [2]*stack.Node
	for i := range nodes {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			return 0, err
		}
		if nodes[i], err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{p}, Address: stack.NodeAddr(0x1001001 + i), Tolerance: load.Tolerance}); err != nil {
			return 0, err
		}
		defer nodes[i].Close(ctx)
	}
	l, err := nodes[1].Listen(ctx, "tipcpacket", service)
	if err != nil {
		return 0, err
	}
	if err := nodes[0].WaitFor(ctx, service); err != nil {
		return 0, err
	}
	all := make([]net.Conn, 0, 2*conns+2)
	connect := func() error {
		var server net.Conn
		accepted := make(chan error, 1)
		go func() {
			var err error
			if server, err = l.Accept(); err == nil {
				err = relay(server, server)
			}
			accepted <- err
		}()
		c, err := nodes[0].Dial(ctx, "tipcpacket", service)
		if err != nil {
			l.Close()
			<-accepted
			return err
		}
		if _, err := c.Write(make([]byte, 64)); err != nil {
			return err
		}
		if _, err := c.Read(make([]byte, 64)); err != nil {
			return err
		}
		all = append(all, c, server)
		return <-accepted
	}
	if err := connect(); err != nil {
		return 0, err
	}
	before := heap()
	for range conns {
		if err := connect(); err != nil {
			return 0, fmt.Errorf("connection %d: %w", len(all)/2, err)
		}
	}
	bytes = float64(heap()-before) / float64(2*conns)
	runtime.KeepAlive(all)
	return bytes, nil
}

// relay sends on one message.
func relay(from, to net.Conn) error {
	b := make([]byte, 64)
	n, err := from.Read(b)
	if err == nil {
		_, err = to.Write(b[:n])
	}
	return err
}

// heap is the bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what the first one freed in pools
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
