// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/fault"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// segment is nodes on one hub, each behind a fault injector.
func segment(t *testing.T, nodes int, faults fault.Config, cfg stack.Config) []*stack.Node {
	t.Helper()
	h := hub.New(hub.Config{})
	all := make([]*stack.Node, nodes)
	for i := range all {
		port, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
		if err != nil {
			t.Fatal(err)
		}
		faults.Seed++
		cfg.Bearers = []stack.Bearer{fault.New(port, faults)}
		cfg.Address = stack.NodeAddr(0x1001001 + i)
		if all[i], err = stack.Open(within(t), cfg); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { all[i].Close(within(t)) })
	}
	return all
}

// Every socket bound where a message is sent to gets it once, and in the order sent,
// also when messages go now by broadcast and now by copies, in fragments or not, with
// frames lost on the way.
//
// It has the clock of a bubble: what waits for its twin waits for 5 s and no longer, which a
// machine that is busy with something else may need.
//
// Proves: multicast.once
func TestMulticastOnceInOrder(t *testing.T) { synctest.Test(t, multicastOnceInOrder) }

func multicastOnceInOrder(t *testing.T) {
	// No more of a round can wait for twins at a socket than may, which is 1024 of all senders.
	const typ, rounds, each = 1000, 8, 200
	loss := fault.Config{In: fault.Faults{Loss: 0.01}, Out: fault.Faults{Loss: 0.01}}
	nodes := segment(t, 5, loss, stack.Config{Wait: stack.Sleep})
	limit := stack.SocketConfig{ReceiveLimit: 256 << 20}
	// Of instance i nodes i … 4 have a socket; node 4 has two, one of them bound twice.
	var readers []*stack.PacketConn
	for i, n := range nodes {
		for range 1 + i/4 {
			c, err := limit.ListenPacket(within(t), n, "tipcrdm", stack.Range{Type: typ, Lower: 0, Upper: uint32(i)})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			readers = append(readers, c)
		}
	}
	if err := readers[5].Bind(stack.Range{Type: typ, Lower: 2, Upper: 4}); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		for i := range nodes {
			if err := n.WaitFor(within(t), stack.Service{Type: typ, Instance: uint32(i), Node: nodes[i].Addr()}); err != nil {
				t.Fatal(err)
			}
		}
	}
	var senders []*stack.PacketConn
	for _, n := range nodes {
		c := listen(t, n, nil)
		defer c.Close()
		c.SetWriteDeadline(time.Now().Add(testTimeout))
		senders = append(senders, c)
	}
	var next [6]map[stack.SocketAddr]int // of each reader, by sender
	for i, c := range readers {
		next[i] = map[stack.SocketAddr]int{}
		c.SetReadDeadline(time.Now().Add(testTimeout))
	}
	b := make([]byte, 66000)
	for first := 0; first < rounds*each; first += each {
		sent := make(chan error, len(senders))
		for _, c := range senders {
			go func() { sent <- multicastRound(c, typ, first, first+each) }()
		}
		for i, c := range readers {
			node := min(i, 4)
			for done := 0; done < len(nodes); {
				_, m, err := c.ReadMsg(b)
				if err != nil {
					t.Fatalf("reader %d: %v; have %v", i, err, next[i])
				}
				k := max(next[i][m.From], first)
				for multicastTo(k) > uint32(node) {
					k++
				}
				if got := int(binary.BigEndian.Uint64(b)); got != k {
					t.Fatalf("reader %d: message %d of %v, want %d", i, got, m.From, k)
				}
				for k++; k < first+each && multicastTo(k) > uint32(node); k++ {
				}
				if next[i][m.From] = k; k == first+each {
					done++
				}
			}
		}
		for range senders {
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
	}
	for i, n := range nodes {
		s := must.Get(n.Admin().Stats(context.Background()))
		if s.Broadcasts == 0 || s.Replicasts == 0 || i > 0 && s.Twins == 0 || s.BarrierBroken > 0 {
			t.Errorf("node %d: %d by broadcast, %d by copies, %d twins, %d barriers broken", i, s.Broadcasts, s.Replicasts, s.Twins, s.BarrierBroken)
		}
	}
}

// multicastTo is the instance that message k is sent to: those of a few nodes and of many
// follow each other.
func multicastTo(k int) uint32 { return uint32(k * 7 / 3 % 5) }

// multicastRound sends messages from first to before end, each with its number.
func multicastRound(c *stack.PacketConn, typ uint32, first, end int) error {
	sizes := []int{8, 100, 1400, 3000, 8, 8, 20000, 60, 66000}
	b := make([]byte, 66000)
	for k := first; k < end; k++ {
		binary.BigEndian.PutUint64(b, uint64(k))
		size := sizes[k%len(sizes)]
		if k%50 > len(sizes) { // mostly short ones
			size = min(size, 200)
		}
		if _, err := c.WriteTo(b[:size], stack.Range{Type: typ, Lower: multicastTo(k), Upper: multicastTo(k)}); err != nil {
			return fmt.Errorf("message %d: %w", k, err)
		}
	}
	return nil
}
