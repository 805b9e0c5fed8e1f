// SPDX-License-Identifier: Apache-2.0

// Echo is the smallest pair of programs: a server that has a name, and a client on
// another node that knows the name and nothing else. They speak twice, over a
// connection and in datagrams.
package main

import (
	"context"
	"fmt"
	"io"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

// What the two services are called.
var (
	echoStream   = stack.Service{Type: 18888, Instance: 17}
	echoDatagram = stack.Service{Type: 18888, Instance: 18}
)

func main() { cluster.Main(2, echo) }

func echo(ctx context.Context, nodes []*stack.Node) error {
	server, client := nodes[0], nodes[1]

	ln, err := server.Listen(ctx, "tipc", echoStream)
	if err != nil {
		return err
	}
	defer ln.Close()
	go serveStream(ln)
	pc, err := server.ListenPacket(ctx, "tipcrdm", echoDatagram)
	if err != nil {
		return err
	}
	defer pc.Close()
	go serveDatagrams(pc)

	if err := askStream(ctx, client); err != nil {
		return err
	}
	return askDatagram(ctx, client)
}

// serveStream sends everything back, on each connection until its client closes it.
func serveStream(ln *stack.Listener) {
	for {
		c, err := ln.Accept()
		if err != nil {
			return // the listener is closed
		}
		go func() {
			defer c.Close()
			io.Copy(c, c)
		}()
	}
}

// serveDatagrams sends every message back to the socket it came from.
func serveDatagrams(pc *stack.PacketConn) {
	b := make([]byte, 66000) // the longest message there is
	for {
		n, from, err := pc.ReadFrom(b)
		if err != nil {
			return
		}
		pc.WriteTo(b[:n], from)
	}
}

func askStream(ctx context.Context, node *stack.Node) error {
	if err := node.WaitFor(ctx, echoStream); err != nil { // until somebody has the name
		return err
	}
	c, err := node.Dial(ctx, "tipc", echoStream)
	if err != nil {
		return err
	}
	defer c.Close()
	fmt.Fprint(c, "hello, stream")
	b := make([]byte, len("hello, stream"))
	if _, err := io.ReadFull(c, b); err != nil {
		return err
	}
	fmt.Printf("node %v, over a connection to %v: %s\n", node.Addr(), echoStream, b)
	return nil
}

func askDatagram(ctx context.Context, node *stack.Node) error {
	if err := node.WaitFor(ctx, echoDatagram); err != nil {
		return err
	}
	pc, err := node.ListenPacket(ctx, "tipcrdm", nil) // without a name
	if err != nil {
		return err
	}
	defer pc.Close()
	if _, err := pc.WriteTo([]byte("hello, datagram"), echoDatagram); err != nil {
		return err
	}
	b := make([]byte, 100)
	n, from, err := pc.ReadFrom(b)
	if err != nil {
		return err
	}
	fmt.Printf("node %v, from node %v: %s\n", node.Addr(), from.(stack.SocketAddr).Node, b[:n])
	return nil
}
