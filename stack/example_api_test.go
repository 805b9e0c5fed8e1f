// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/utipc/utipc/stack"
)

// docs/reference/api.md shows parts of the examples here.

// examplePair is a socket with a name, and one on another node that knows of it.
func examplePair(ctx context.Context, name stack.Service) (in, out *stack.PacketConn, end func()) {
	server, client := exampleNodes(ctx)
	in, err := server.ListenPacket(ctx, "tipcrdm", name)
	if err == nil {
		out, err = client.ListenPacket(ctx, "tipcrdm", nil)
	}
	if err == nil {
		err = client.WaitFor(ctx, name)
	}
	if err != nil {
		log.Fatal(err)
	}
	return in, out, func() {
		server.Close(ctx)
		client.Close(ctx)
	}
}

// A message is written where it is sent from, and read where it came in.
//
// Proves: house.docs
func ExamplePacketConn_WriteBuffer() {
	store := stack.Service{Type: 18888, Instance: 1}
	in, out, end := examplePair(context.Background(), store)
	defer end()

	b, err := out.NewBuffer(20000) // waits for memory as a write does
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range b.Pieces() { // one for each frame that it will travel in
		for i := range p {
			p[i] = 7
		}
	}
	err = out.WriteBuffer(b, store) // the memory is the network's now
	b.Release()                     // once, and last, whatever the error
	if err != nil {
		log.Fatal(err)
	}

	r, m, err := in.ReadBuffer()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Len(), "bytes for", m.Name)
	r.Release() // or the node runs short of memory
	// Output: 20000 bytes for 18888:1-1
}

// Many messages in one call.
//
// Proves: house.docs
func ExamplePacketConn_ReadBatch() {
	counter := stack.Service{Type: 18888, Instance: 2}
	in, out, end := examplePair(context.Background(), counter)
	defer end()
	send := make([]stack.Message, 10)
	for i := range send {
		send[i] = stack.Message{Data: []byte{byte(i)}, To: counter}
	}
	if _, err := out.WriteBatch(send); err != nil {
		log.Fatal(err)
	}

	ms := make([]stack.Message, 32)
	for i := range ms {
		ms[i].Data = make([]byte, 1500)
	}
	sum := 0
	for got := 0; got < 10; {
		k, err := in.ReadBatch(ms) // one at least, and all that wait
		if err != nil {
			log.Fatal(err)
		}
		for _, m := range ms[:k] {
			sum += int(m.Data[:m.N][0])
		}
		got += k
	}
	fmt.Println(sum)
	// Output: 45
}

// A write that waits ends at its deadline, and says what it waited for.
//
// Proves: house.docs
func ExampleBlockedError() {
	ctx := context.Background()
	node, other := exampleNodes(ctx)
	defer node.Close(ctx)
	defer other.Close(ctx)

	pc, err := stack.SocketConfig{NameWait: time.Minute}.ListenPacket(ctx, node, "tipcrdm", nil)
	if err != nil {
		log.Fatal(err)
	}
	pc.SetWriteDeadline(time.Now().Add(time.Second))
	_, err = pc.WriteTo([]byte("is anybody there?"), stack.Service{Type: 18888, Instance: 3})
	var blocked *stack.BlockedError
	if errors.As(err, &blocked) {
		fmt.Println(blocked.Reason())
	}
	fmt.Println(errors.Is(err, os.ErrDeadlineExceeded))
	// Output:
	// waits for name 18888:3
	// true
}

// One goroutine serves many sockets.
//
// Proves: house.docs
func ExamplePoller() {
	ctx := context.Background()
	server, client := exampleNodes(ctx)
	defer server.Close(ctx)
	defer client.Close(ctx)
	out, err := client.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		log.Fatal(err)
	}

	poller, err := server.NewPoller()
	if err != nil {
		log.Fatal(err)
	}
	for instance := range uint32(3) {
		pc, err := server.ListenPacket(ctx, "tipcrdm", stack.Service{Type: 18888, Instance: instance})
		if err != nil {
			log.Fatal(err)
		}
		poller.Add(pc, pc)
	}

	second := stack.Service{Type: 18888, Instance: 1}
	if err := client.WaitFor(ctx, second); err != nil {
		log.Fatal(err)
	}
	if _, err := out.WriteTo([]byte("hello"), second); err != nil {
		log.Fatal(err)
	}

	ready, buf := make([]*stack.Polled, 16), make([]byte, 1500)
	for served := 0; served == 0; {
		k, err := poller.Wait(ready) // until one has something to read
		if err != nil {
			log.Fatal(err)
		}
		for _, p := range ready[:k] {
			pc := p.Owner.(*stack.PacketConn)
			for {
				n, m, err := pc.TryReadMsg(buf) // until there is no more: syscall.EAGAIN
				if err != nil {
					break
				}
				fmt.Printf("%q for %v\n", buf[:n], m.Name)
				served++
			}
		}
	}
	// Output: "hello" for 18888:1-1
}

// How a node stands.
//
// Proves: house.docs
func ExampleNode_Admin() {
	ctx := context.Background()
	node, other := exampleNodes(ctx)
	defer node.Close(ctx)
	defer other.Close(ctx)
	up := stack.Service{Type: stack.AllNodes.Type, Instance: uint32(other.Addr())}
	if err := node.WaitFor(ctx, up); err != nil { // until there is contact
		log.Fatal(err)
	}

	links, err := node.Admin().Links(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range links {
		fmt.Println(l.Peer, l.State(), l.Tolerance)
	}
	err = node.Admin().SetLink(ctx, other.Addr(), "eth0", stack.LinkConfig{Tolerance: 400 * time.Millisecond})
	fmt.Println(err)
	// Output:
	// 1001002 ACTIVE 30s
	// <nil>
}
