// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// exampleNodes are two nodes on a network in memory. docs/tutorials/programming.md shows parts of
// the examples here.
func exampleNodes(ctx context.Context) (a, b *stack.Node) {
	segment := hub.New(hub.Config{})
	var nodes [2]*stack.Node
	for i := range nodes {
		port, err := segment.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			log.Fatal(err)
		}
		if nodes[i], err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{port}, Address: stack.NodeAddr(0x1001001 + i), Tolerance: steady}); err != nil {
			log.Fatal(err)
		}
	}
	return nodes[0], nodes[1]
}

// Proves: house.docs
func ExampleNode_Listen() {
	ctx := context.Background()
	server, client := exampleNodes(ctx)
	defer server.Close(ctx)
	defer client.Close(ctx)
	greet := func(c net.Conn) {
		defer c.Close()
		fmt.Fprint(c, "good morning")
	}

	clock := stack.Service{Type: 18888, Instance: 17}
	ln, err := server.Listen(ctx, "tipc", clock)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return // ln is closed
			}
			go greet(c)
		}
	}()

	if err := client.WaitFor(ctx, clock); err != nil { // until somebody has the name
		log.Fatal(err)
	}
	c, err := client.Dial(ctx, "tipc", clock)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	b, err := io.ReadAll(c) // until the server closes
	fmt.Printf("%s, %v\n", b, err)
	// Output: good morning, <nil>
}

// How a connection ends, and what a deadline does.
//
// Proves: house.docs
func ExampleConnError() {
	ctx := context.Background()
	server, client := exampleNodes(ctx)
	defer server.Close(ctx)
	defer client.Close(ctx)
	clock := stack.Service{Type: 18888, Instance: 17}
	ln, err := server.Listen(ctx, "tipcpacket", clock)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.WaitFor(ctx, clock); err != nil {
		log.Fatal(err)
	}
	read := func(c net.Conn) {
		b := make([]byte, 100)
		n, err := c.Read(b)
		switch {
		case err == nil:
			fmt.Printf("read %q\n", b[:n])
		case err == io.EOF:
			fmt.Println("the peer has closed")
		case errors.Is(err, os.ErrDeadlineExceeded):
			fmt.Println("nothing came in time; the connection is as good as before")
		case errors.Is(err, syscall.ECONNRESET):
			fmt.Println("the peer broke off, or contact with its node is lost")
		default:
			fmt.Println(err)
		}
	}
	for _, end := range []func(*stack.Conn) error{(*stack.Conn).Close, (*stack.Conn).Abort} {
		accepted := make(chan *stack.Conn, 1)
		go func() {
			peer, err := ln.AcceptConn()
			if err != nil {
				log.Fatal(err)
			}
			accepted <- peer
		}()
		c, err := client.Dial(ctx, "tipcpacket", clock) // until it is accepted
		if err != nil {
			log.Fatal(err)
		}
		peer := <-accepted
		c.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		read(c)
		c.SetReadDeadline(time.Time{})
		peer.Write([]byte("goodbye"))
		end(peer)
		read(c) // what was written arrives first
		read(c)
		c.Close()
	}
	// Output:
	// nothing came in time; the connection is as good as before
	// read "goodbye"
	// the peer has closed
	// nothing came in time; the connection is as good as before
	// read "goodbye"
	// the peer broke off, or contact with its node is lost
}

// A message that nobody reads comes back.
//
// Proves: house.docs
func ExampleRejectError() {
	ctx := context.Background()
	server, client := exampleNodes(ctx)
	defer server.Close(ctx)
	defer client.Close(ctx)
	clock := stack.Service{Type: 18888, Instance: 17}
	lazy, err := server.ListenPacket(ctx, "tipcrdm", clock)
	if err != nil {
		log.Fatal(err)
	}
	if err := client.WaitFor(ctx, clock); err != nil {
		log.Fatal(err)
	}

	pc, err := stack.SocketConfig{Returnable: true}.ListenPacket(ctx, client, "tipcrdm", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pc.WriteTo([]byte("what time is it?"), clock); err != nil {
		log.Fatal(err)
	}
	lazy.Close()
	b := make([]byte, 100)
	n, _, err := pc.ReadFrom(b)
	var back *stack.RejectError
	if errors.As(err, &back) {
		fmt.Printf("%q came back\n", b[:n])
	}
	// Output: "what time is it?" came back
}

// Proves: house.docs
func ExamplePacketConn_TryNextReport() {
	node, err := stack.Attach(context.Background(), "") // to the daemon of this host
	if err != nil {
		log.Fatal(err)
	}
	defer node.Close(context.Background())
	pc, err := node.ListenPacket(context.Background(), "tipcrdm", nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pc.WriteTo([]byte("hello"), stack.Service{Type: 18888, Instance: 17}); err != nil {
		log.Fatal(err)
	}
	if r, err := pc.TryNextReport(); err == nil {
		fmt.Printf("message %d to %v was not sent\n", r.Seq, r.Addr)
	}
}

// Proves: house.docs
func ExampleNode_Join() {
	ctx := context.Background()
	one, other := exampleNodes(ctx)
	defer one.Close(ctx)
	defer other.Close(ctx)

	const chat = 4242 // the group
	alice, err := one.Join(ctx, stack.Service{Type: chat, Instance: 1})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := other.Join(ctx, stack.Service{Type: chat, Instance: 2})
	if err != nil {
		log.Fatal(err)
	}
	if err := alice.WaitMembers(ctx, 1); err != nil {
		log.Fatal(err)
	}
	alice.Write([]byte("to all"))                                           // all others
	alice.WriteTo([]byte("to one"), stack.Service{Type: chat, Instance: 2}) // one of those with instance 2
	alice.WriteTo([]byte("to these"), stack.Range{Type: chat, Lower: 2})    // all of them
	b := make([]byte, 100)
	for range 3 {
		n, m, err := bob.ReadMsg(b)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("from %v: %s\n", m.Member, b[:n])
	}
	// Output:
	// from 4242:1: to all
	// from 4242:1: to one
	// from 4242:1: to these
}

// Proves: house.docs
func ExampleNode_Handle() {
	ctx := context.Background()
	server, client := exampleNodes(ctx)
	defer server.Close(ctx)
	defer client.Close(ctx)

	upper := stack.Service{Type: 18888, Instance: 17}
	port, err := server.Handle(ctx, upper, stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) {
		w.Send(bytes.ToUpper(m.Data))
	}))
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()

	if err := client.WaitFor(ctx, upper); err != nil {
		log.Fatal(err)
	}
	answer := make([]byte, 100)
	n, _, err := client.Call(ctx, upper, []byte("hello"), answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", answer[:n])
	// Output: HELLO
}
