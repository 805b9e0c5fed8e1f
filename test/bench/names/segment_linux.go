// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"fmt"
	"time"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/xdp"
)

const (
	members = 4           // nodes of a segment
	meeting = time.Minute // how long they may take to find each other, and a message to arrive
	typ     = 18888       // service type

	// tolerance is that of links, but where it is seen by silence that a node is dead: this process
	// may stand still for seconds beside others' work.
	tolerance = 20 * time.Second
)

// A segment is four nodes in this process, in network namespaces of their own, on a bridge.
type segment struct {
	bed   *bed.Segment
	nodes [members]*stack.Node
}

func openSegment(ctx context.Context, driver xdp.Config) (s *segment, err error) {
	ctx, cancel := context.WithTimeout(ctx, meeting)
	defer cancel()
	s = &segment{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.bed, err = bed.NewSegment(members, 1500); err != nil {
		return s, err
	}
	for i := range s.nodes {
		var d xdp.Bearer
		if err := s.bed.Do(i, func() (err error) { d, err = xdp.Open(s.bed.Name(i), &driver); return err }); err != nil {
			return s, err
		}
		s.nodes[i], err = stack.Open(ctx, stack.Config{Bearers: []stack.Bearer{d}, Address: address(i), Wait: stack.Sleep, Tolerance: tolerance})
		if err != nil {
			return s, err
		}
	}
	for _, n := range s.nodes { // until every node knows of all
		for i := range members {
			if err := n.WaitFor(ctx, stack.Service{Type: stack.NodeState, Instance: uint32(address(i))}); err != nil {
				return s, fmt.Errorf("%v has no contact with %v: %w", n.Addr(), address(i), err)
			}
		}
	}
	return s, nil
}

func address(i int) stack.NodeAddr { return stack.NodeAddr(0x1001001 + i) }

// suspect sets the tolerance of the others' links to node i.
func (s *segment) suspect(i int, d time.Duration) error {
	for k, n := range s.nodes {
		if k == i {
			continue
		}
		if err := n.Admin().SetLink(context.Background(), address(i), s.bed.Name(k), stack.LinkConfig{Tolerance: d}); err != nil {
			return err
		}
	}
	return nil
}

func (s *segment) close() {
	for _, n := range s.nodes {
		if n != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			n.Close(ctx)
			cancel()
		}
	}
	if s.bed != nil {
		s.bed.Close()
	}
}

// dropped is the number of frames that devices lost, and of messages that found no room in
// a socket.
func (s *segment) dropped() (frames, messages uint64) {
	for _, n := range s.nodes {
		x := must.Get(n.Admin().Stats(context.Background()))
		frames += x.DeviceDropsIn + x.DeviceDropsOut
		messages += x.Drops[engine.DropOverload]
	}
	return frames, messages
}

// repeated is the number of packets that were sent again.
func (s *segment) repeated() (n uint64) {
	for _, x := range s.nodes {
		n += must.Get(x.Admin().BroadcastLink(context.Background())).Retransmits
		for _, l := range must.Get(x.Admin().Links(context.Background())) {
			n += l.Retransmits
		}
	}
	return n
}
