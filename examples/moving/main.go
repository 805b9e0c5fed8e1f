// SPDX-License-Identifier: Apache-2.0

// Moving has a service that moves from node to node while a client streams numbers to
// it. The client knows the service by its name: when the connection ends it dials the
// name again, wherever that is now, and goes on behind the last number the service has.
// No number is lost, and none counts twice.
//
//	client ──► service on node 1      a name, a connection, the numbers 1 to 4000
//	              │ its state, to its successor
//	client ──► service on node 2      the same name; "I have 4000", so 4001 comes next
//	              │
//	client ──► service on node 3
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

const (
	numbers = 10000 // that the client sends
	stay    = 4000  // numbers that the service takes on one node
)

// What the services are called.
var (
	sums      = stack.Service{Type: 18888, Instance: 1} // adds up what it is sent
	successor = uint32(18889)                           // type; node i waits for the state at instance i
)

// A state is all that the service knows. It moves with the service.
type state struct {
	Last uint64 // the last number taken
	Sum  uint64 // of all numbers taken
}

func main() { cluster.Main(4, moving) }

func moving(ctx context.Context, nodes []*stack.Node) error {
	ended := make(chan error, 3)
	for i := range 3 {
		go func() { ended <- host(ctx, nodes[i], uint32(i+1)) }()
	}
	final, hosts, err := stream(ctx, nodes[3])
	if err != nil {
		return err
	}
	for range 3 {
		if err := <-ended; err != nil {
			return err
		}
	}
	fmt.Printf("the client found the service on %d nodes\n", hosts)
	fmt.Printf("the service has %d numbers, their sum is %d\n", final.Last, final.Sum)
	if want := (state{numbers, numbers * (numbers + 1) / 2}); final != want {
		return fmt.Errorf("want %+v", want)
	}
	return nil
}

// host is one node's part in the service: it inherits the state, serves for a while, and
// hands the state on. The first begins with nothing.
func host(ctx context.Context, node *stack.Node, number uint32) error {
	var s state
	if number > 1 {
		var err error
		if s, err = inherit(ctx, node, stack.Service{Type: successor, Instance: number}); err != nil {
			return err
		}
	}
	first := s.Last + 1
	more, err := serve(ctx, node, &s)
	if err != nil {
		return err
	}
	fmt.Printf("node %v took the numbers %d to %d\n", node.Addr(), first, s.Last)
	if more {
		return bequeath(ctx, node, stack.Service{Type: successor, Instance: number + 1}, s)
	}
	return nil
}

// serve binds the name and takes numbers, as many as the service stays on one node, or
// until the client says that there are no more. On return the name is free.
func serve(ctx context.Context, node *stack.Node, s *state) (more bool, err error) {
	ln, err := node.Listen(ctx, "tipc", sums)
	if err != nil {
		return false, err
	}
	defer ln.Close()
	c, err := ln.Accept()
	if err != nil {
		return false, err
	}
	defer c.Close() // what was sent and is not read by now, the client will send again
	if err := binary.Write(c, binary.BigEndian, s); err != nil {
		return false, err
	}
	for taken := 0; taken < stay; taken++ {
		var number uint64
		if err := binary.Read(c, binary.BigEndian, &number); err != nil {
			return false, err
		}
		if number == 0 {
			return false, binary.Write(c, binary.BigEndian, s)
		}
		if number != s.Last+1 {
			return false, fmt.Errorf("%d came behind %d", number, s.Last)
		}
		s.Last = number
		s.Sum += number
	}
	return true, nil
}

// inherit waits for the state under a name of its own.
func inherit(ctx context.Context, node *stack.Node, name stack.Service) (s state, err error) {
	ln, err := node.Listen(ctx, "tipcpacket", name)
	if err != nil {
		return s, err
	}
	defer ln.Close()
	c, err := ln.Accept()
	if err != nil {
		return s, err
	}
	defer c.Close()
	return s, binary.Read(c, binary.BigEndian, &s)
}

func bequeath(ctx context.Context, node *stack.Node, name stack.Service, s state) error {
	if err := node.WaitFor(ctx, name); err != nil {
		return err
	}
	c, err := node.Dial(ctx, "tipcpacket", name)
	if err != nil {
		return err
	}
	defer c.Close() // what is written arrives before the end
	return binary.Write(c, binary.BigEndian, s)
}

// stream is the client. It returns what the service says at the end, and on how many
// nodes the service was.
func stream(ctx context.Context, node *stack.Node) (s state, hosts int, err error) {
	met := map[stack.NodeAddr]bool{}
	for ctx.Err() == nil {
		if err := node.WaitFor(ctx, sums); err != nil {
			return s, 0, err
		}
		c, err := node.Dial(ctx, "tipc", sums)
		if err != nil {
			continue // it has just moved: the name comes back elsewhere
		}
		met[c.RemoteAddr().(stack.SocketAddr).Node] = true
		s, err := sendAll(c)
		c.Close()
		if err == nil || errors.Is(err, errBroken) {
			return s, len(met), err
		} // else the service has moved, or its node is gone: once more
	}
	return s, 0, ctx.Err()
}

// errBroken means that the service has numbers that were never sent.
var errBroken = errors.New("the service knows too much")

// sendAll sends what the service does not have yet.
func sendAll(c io.ReadWriter) (s state, err error) {
	if err := binary.Read(c, binary.BigEndian, &s); err != nil {
		return s, err
	}
	if s.Last > numbers {
		return s, errBroken
	}
	for number := s.Last + 1; number <= numbers; number++ {
		if err := binary.Write(c, binary.BigEndian, number); err != nil {
			return s, err
		}
	}
	if err := binary.Write(c, binary.BigEndian, uint64(0)); err != nil { // no more
		return s, err
	}
	return s, binary.Read(c, binary.BigEndian, &s)
}
