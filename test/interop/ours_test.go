// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/interop/flow"
	"github.com/utipc/utipc/test/interop/rig"
)

// ours is a node of ours as a station.
type ours struct {
	ctx    context.Context
	node   *stack.Node
	peer   stack.NodeAddr
	cables []*Cable
	wires  []rig.Link // that the cables are made of
	shut   func()     // ends the node
}

// enable gives the node a bearer again that was disabled.
func (s *ours) enable(i int) error {
	c, err := OpenCable(ifaces[i], s.wires[i])
	if err != nil {
		return err
	}
	s.cables[i] = c
	return s.node.Admin().AddDevice(s.ctx, c, admin.BearerConfig{})
}

func (s *ours) addr() stack.NodeAddr { return s.node.Addr() }

func (s *ours) knows(t *testing.T, svc stack.Service) {
	t.Helper()
	if err := s.node.WaitFor(s.ctx, svc); err != nil {
		t.Fatalf("waiting for %v: %v", svc, err)
	}
}

// A flowSocket is a socket of ours as package flow wants it.
type flowSocket struct{ *stack.PacketConn }

func (c flowSocket) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := c.PacketConn.ReadFrom(b)
	if errors.As(err, new(*stack.RejectError)) {
		err = flow.ErrReturned
	}
	return n, from, err
}

// listen makes a socket that closes with the test.
func (s *ours) listen(t *testing.T, at net.Addr) *stack.PacketConn {
	t.Helper()
	c, err := s.node.ListenPacket(s.ctx, "tipcrdm", at)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// An ourFlow is an end of a stream in a goroutine.
type ourFlow struct {
	sink   *flow.Sink
	halt   chan struct{}
	ended  chan struct{} // closed when the following are set
	result flow.Report
	sent   flow.Sent
	err    error
}

func (s *ours) hear(t *testing.T, at stack.Service, p flow.Plan) hearer {
	t.Helper()
	f := &ourFlow{sink: flow.NewSink(p), ended: make(chan struct{})}
	c := flowSocket{s.listen(t, at)}
	go func() {
		defer close(f.ended)
		f.result, f.err = f.sink.Serve(c)
	}()
	return f
}

func (f *ourFlow) mark(*testing.T) flow.Mark { return f.sink.Mark() }

func (f *ourFlow) report(t *testing.T) flow.Report {
	t.Helper()
	<-f.ended
	must(t, f.err)
	return f.result
}

func (s *ours) speak(t *testing.T, to stack.Service, p flow.Plan, parity int) speaker {
	t.Helper()
	c := s.listen(t, nil)
	for int(c.LocalAddr().(stack.SocketAddr).Port)&1 != parity {
		c = s.listen(t, nil)
	}
	f := &ourFlow{halt: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		f.sent, f.err = flow.Send(flowSocket{c}, to, p, f.halt)
	}()
	return f
}

func (f *ourFlow) stop(t *testing.T) flow.Sent {
	t.Helper()
	close(f.halt)
	<-f.ended
	must(t, f.err)
	return f.sent
}

func (s *ours) links(*testing.T) (all []linkState) {
	for _, l := range musthave.Get(s.node.Admin().Links(context.Background())) {
		all = append(all, linkState{
			name: l.Name, up: l.Up, active: l.Active, tolerance: l.Tolerance,
			sent: int(l.SentPackets), retransmitted: int(l.Retransmits), resets: int(l.Resets),
		})
	}
	return all
}

func (s *ours) linksUp() (n int) {
	for _, l := range musthave.Get(s.node.Admin().Links(context.Background())) {
		if l.Up {
			n++
		}
	}
	return n
}

func (s *ours) unplug(i int) error {
	s.cables[i].Unplug()
	return nil
}

func (s *ours) plug(i int) error {
	s.cables[i].Plug()
	return nil
}

func (s *ours) setTolerance(i int, d time.Duration) error {
	return s.node.Admin().SetLink(s.ctx, s.peer, ifaces[i], stack.LinkConfig{Tolerance: d})
}
