// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/rig"
)

// A member is one of the nodes in a segment, ours or a kernel. Its sockets have
// numbers of the test's choice.
type member interface {
	addr() stack.NodeAddr
	// watch enters all events about some service types in a ledger.
	watch(t *testing.T, types ...uint32) *ledger
	// bind binds a socket to count ranges of the same width side by side. It has one
	// scope for all that it is bound to.
	bind(t *testing.T, socket int, r stack.Range, scope stack.Scope, count int) stack.SocketAddr
	unbind(t *testing.T, socket int, r stack.Range, scope stack.Scope, count int)
	// close closes a socket.
	close(t *testing.T, socket int)
	// suspect has the node notice soon that another is silent.
	suspect(other stack.NodeAddr) error
	// table is the node's binding table, of cluster scope.
	table(t *testing.T) bounds
}

// side is the i-th of the ranges that begin with r.
func side(r stack.Range, i int) stack.Range {
	width := r.Upper - r.Lower + 1
	return stack.Range{Type: r.Type, Lower: r.Lower + uint32(i)*width, Upper: r.Upper + uint32(i)*width}
}

// ourMember is a node of ours.
type ourMember struct {
	ctx     context.Context
	node    *stack.Node
	sockets map[int]*stack.PacketConn
}

func (m *ourMember) addr() stack.NodeAddr { return m.node.Addr() }

func (m *ourMember) watch(t *testing.T, types ...uint32) *ledger {
	t.Helper()
	l := newLedger()
	for _, typ := range types {
		s, err := m.node.Subscribe(m.ctx, stack.Range{Type: typ, Upper: 1<<32 - 1})
		must(t, err)
		go func() {
			for ev := range s.Events(m.ctx) {
				l.note(!ev.Withdrawn, bound{ev.Range, ev.Socket})
			}
		}()
	}
	return l
}

func (m *ourMember) bind(t *testing.T, socket int, r stack.Range, scope stack.Scope, count int) stack.SocketAddr {
	t.Helper()
	c := m.sockets[socket]
	if c == nil {
		var err error
		c, err = stack.SocketConfig{Scope: scope}.ListenPacket(m.ctx, m.node, "tipcrdm", nil)
		must(t, err)
		m.sockets[socket] = c
	}
	for i := range count {
		must(t, c.Bind(side(r, i)))
	}
	return c.LocalAddr().(stack.SocketAddr)
}

func (m *ourMember) unbind(t *testing.T, socket int, r stack.Range, _ stack.Scope, count int) {
	t.Helper()
	for i := range count {
		must(t, m.sockets[socket].Unbind(side(r, i)))
	}
}

func (m *ourMember) close(t *testing.T, socket int) {
	t.Helper()
	must(t, m.sockets[socket].Close())
	delete(m.sockets, socket)
}

func (m *ourMember) suspect(other stack.NodeAddr) error {
	return m.node.Admin().SetLink(m.ctx, other, "eth0", stack.LinkConfig{Tolerance: impatient})
}

func (m *ourMember) table(*testing.T) bounds {
	all := bounds{}
	for _, b := range musthave.Get(m.node.Admin().Names(context.Background())) {
		if b.Scope == stack.ClusterScope {
			all.add(bound{b.Range, b.Socket}, 1)
		}
	}
	return all
}

// shut ends the node. All its memory must have come back.
func (m *ourMember) shut(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := m.node.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
		t.Errorf("close: %v", err)
	}
	if s := musthave.Get(m.node.Admin().Stats(context.Background())); s.ChunksFree != s.ChunksTotal {
		t.Errorf("%d of %d chunks came back", s.ChunksFree, s.ChunksTotal)
	}
}

// kernelMember is a kernel.
type kernelMember struct {
	ctx   context.Context
	guest *rig.Guest
	node  stack.NodeAddr
	held  *rig.Job
}

// newKernelMember starts a kernel at the end of a link.
func newKernelMember(ctx context.Context, im *rig.Image, node stack.NodeAddr, link rig.Link) (*kernelMember, error) {
	g, err := rig.Start(ctx, im, rig.Options{
		Name: fmt.Sprintf("kernel-%x", uint32(node)), Address: fmt.Sprintf("%x", uint32(node)),
		Links: []rig.Link{link}, Enable: true, Tolerance: patient,
	})
	if err != nil {
		return nil, err
	}
	m := &kernelMember{ctx: ctx, guest: g, node: node}
	if m.held, err = m.job("hold"); err != nil {
		g.Close()
		return nil, err
	}
	return m, nil
}

func (m *kernelMember) addr() stack.NodeAddr { return m.node }

// job starts the test peer and waits until it is ready.
func (m *kernelMember) job(args ...string) (*rig.Job, error) {
	j, err := m.guest.Job(m.ctx, append([]string{"peer"}, args...)...)
	if err == nil {
		_, err = j.Expect(m.ctx, "ready")
	}
	return j, err
}

func (m *kernelMember) watch(t *testing.T, types ...uint32) *ledger {
	t.Helper()
	l := newLedger()
	j, err := m.job("topology")
	must(t, err)
	const ports, forever = 1, 0xffffffff // filter and timeout
	for _, typ := range types {
		must(t, j.Send(fmt.Sprintf("%d 0 0xffffffff %#x %d ledger", typ, uint32(forever), ports)))
	}
	go func() {
		for {
			line, err := j.Expect(m.ctx, "event ")
			if err != nil {
				return
			}
			ev, err := parseEvent(line)
			if err != nil {
				l.fail(err)
				return
			}
			l.note(ev.kind == "published", ev.bound)
		}
	}()
	return l
}

// command has the peer that holds sockets carry out a line.
func (m *kernelMember) command(t *testing.T, answer, format string, args ...any) string {
	t.Helper()
	line := fmt.Sprintf(format, args...)
	must(t, m.held.Send(line))
	got, err := m.held.Expect(m.ctx, "")
	if err == nil && !strings.HasPrefix(got, answer) {
		err = fmt.Errorf("got %q, want %q", got, answer)
	}
	if err != nil {
		t.Fatalf("%x: %s: %v", uint32(m.node), line, err)
	}
	return got
}

func (m *kernelMember) bind(t *testing.T, socket int, r stack.Range, scope stack.Scope, count int) stack.SocketAddr {
	t.Helper()
	line := m.command(t, "bound id=", "bind %d %d %d %d %v %d", socket, r.Type, r.Lower, r.Upper, scope, count)
	at := stack.SocketAddr{Node: m.node}
	var node uint32
	if _, err := fmt.Sscanf(line, "bound id=%x:%d", &node, &at.Port); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return at
}

func (m *kernelMember) unbind(t *testing.T, socket int, r stack.Range, scope stack.Scope, count int) {
	t.Helper()
	m.command(t, "unbound", "unbind %d %d %d %d %v %d", socket, r.Type, r.Lower, r.Upper, scope, count)
}

func (m *kernelMember) close(t *testing.T, socket int) {
	t.Helper()
	m.command(t, "closed", "close %d", socket)
}

// ping waits until the kernel has answered a line.
func (m *kernelMember) ping(t *testing.T) {
	t.Helper()
	m.command(t, "pong", "ping")
}

func (m *kernelMember) suspect(other stack.NodeAddr) error {
	return m.guest.SetLink(m.ctx, fmt.Sprintf("%x:eth0-%x:eth0", uint32(m.node), uint32(other)), "tolerance", int(impatient.Milliseconds()))
}

func (m *kernelMember) table(t *testing.T) bounds {
	t.Helper()
	out, err := m.guest.Run(m.ctx, "tipc -j nametable show")
	must(t, err)
	var rows []struct {
		Type, Lower, Upper, Port uint32
		Scope, Node              string
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := bounds{}
	for _, r := range rows {
		if r.Scope != "cluster" {
			continue
		}
		node, err := stack.ParseNodeAddr(r.Node)
		must(t, err)
		all.add(bound{stack.Range{Type: r.Type, Lower: r.Lower, Upper: r.Upper}, stack.SocketAddr{Port: r.Port, Node: node}}, 1)
	}
	return all
}

// An event is what a topology server said to a peer in a guest.
type event struct {
	kind string // published, withdrawn, timeout
	bound
	handle string
	line   string
}

// parseEvent reads a line that the peer prints.
func parseEvent(line string) (ev event, err error) {
	var node, lower, upper, filter uint32
	var timeout, ms int
	r := &ev.Range
	if _, err = fmt.Sscanf(line, "event %s found={%d,%d,%d} port=%x:%d of={%d,%d} timeout=%d filter=%v handle=%s ms=%d",
		&ev.kind, &r.Type, &r.Lower, &r.Upper, &node, &ev.Socket.Port, &lower, &upper, &timeout, &filter, &ev.handle, &ms); err != nil {
		return ev, fmt.Errorf("%q: %w", line, err)
	}
	ev.Socket.Node = stack.NodeAddr(node)
	ev.line, _, _ = strings.Cut(line, " ms=")
	return ev, nil
}
