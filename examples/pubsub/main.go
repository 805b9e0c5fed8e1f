// SPDX-License-Identifier: Apache-2.0

// Pubsub publishes messages on topics: a topic is an instance, a subscriber binds the
// range of the topics it wants, and what is published on a topic goes to everybody whose
// range has it, once, by multicast. The publisher knows no subscriber.
package main

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/examples/internal/cluster"
	"github.com/utipc/utipc/stack"
)

// news is the type of the service; its instances are the topics.
const news = 18888

// Topics. Those of one subject lie side by side, so that one range has them all.
const (
	rain   = 100
	storm  = 101
	soccer = 200
	over   = 1000 // tells subscribers to end
)

var subscribers = []struct {
	name  string
	wants stack.Range
}{
	{"farmer", stack.Range{Type: news, Lower: rain, Upper: rain}},
	{"sailor", stack.Range{Type: news, Lower: 100, Upper: 199}}, // all weather
	{"editor", stack.Range{Type: news, Lower: 0, Upper: 999}},   // everything
}

func main() { cluster.Main(3, pubsub) }

func pubsub(ctx context.Context, nodes []*stack.Node) error {
	publisher := nodes[0]
	finished := make([]chan []string, len(subscribers)) // what each has read
	for i, s := range subscribers {
		pc, err := nodes[i].ListenPacket(ctx, "tipcrdm", s.wants)
		if err != nil {
			return err
		}
		defer pc.Close()
		if err := pc.Bind(topic(over)); err != nil { // one more name for the same socket
			return err
		}
		finished[i] = make(chan []string, 1)
		go func() { finished[i] <- read(pc) }()
	}
	// Multicast reaches who is bound at that moment: here it begins when all are.
	if err := waitForSockets(ctx, publisher, topic(over), len(subscribers)); err != nil {
		return err
	}

	pc, err := publisher.ListenPacket(ctx, "tipcrdm", nil)
	if err != nil {
		return err
	}
	defer pc.Close()
	for _, m := range []struct {
		topic uint32
		text  string
	}{
		{rain, "rain at noon"},
		{storm, "a storm from the west"},
		{soccer, "the home team wins"},
		{over, "over"}, // an empty message would not arrive
	} {
		if _, err := pc.WriteTo([]byte(m.text), topic(m.topic)); err != nil {
			return err
		}
	}
	for i, s := range subscribers {
		select {
		case texts := <-finished[i]:
			fmt.Printf("%s, topics %d-%d: %q\n", s.name, s.wants.Lower, s.wants.Upper, texts)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// topic is where a message on one topic goes to. That it is a Range, not a Service, makes
// it a multicast.
func topic(t uint32) stack.Range { return stack.Range{Type: news, Lower: t, Upper: t} }

// read collects messages until there will be no more.
func read(pc *stack.PacketConn) (texts []string) {
	b := make([]byte, 1000)
	for {
		n, m, err := pc.ReadMsg(b)
		if err != nil || m.Name.Lower == over {
			return texts
		}
		texts = append(texts, string(b[:n]))
	}
}

// waitForSockets waits until as many sockets are bound to r.
func waitForSockets(ctx context.Context, node *stack.Node, r stack.Range, count int) error {
	sub, err := node.Subscribe(ctx, r)
	if err != nil {
		return err
	}
	defer sub.Close()
	for count > 0 {
		ev, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		if ev.Withdrawn {
			count++
		} else {
			count--
		}
	}
	return nil
}
