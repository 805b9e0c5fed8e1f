// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/play"
)

// A slowGroup is a group with a member of ours that writes, and others: one of ours, and
// two of a kernel's, of which one does not read.
type slowGroup struct {
	*testing.T
	p           *pair
	kernel      part
	x, y        *stack.Group // x writes
	slow, quick stack.SocketAddr
	next        int // number of the next message
}

const slowLimit = 20

func newSlowGroup(t *testing.T, p *pair, typ uint32, policy stack.SlowPolicy) *slowGroup {
	t.Helper()
	kernel, err := newStage(t, p, 0).open[1](int(typ), false)
	must(t, err)
	g := &slowGroup{T: t, p: p, kernel: kernel}
	t.Cleanup(func() { kernel.kill() })
	node := p.ends[0].(*ours).node
	join := func(instance uint32) *stack.Group {
		m, err := stack.GroupConfig{Policy: policy, Limit: slowLimit}.Join(p.ctx, node, stack.Service{Type: typ, Instance: instance})
		must(t, err)
		t.Cleanup(func() { m.Close() })
		return m
	}
	g.x, g.y = join(1), join(2)
	for i, name := range []string{"S", "Q"} {
		g.ask(name+" open group", "ok")
		g.ask(fmt.Sprintf("%s set events %d", name, 1-i), "ok")
		g.ask(fmt.Sprintf("%s join %d:%d", name, typ, 3+i), "ok")
	}
	g.ask("S members 3", "3 joined, 0 left")
	id := func(name string) stack.SocketAddr {
		a, err := frame.ParseAddr(g.answer(name + " id"))
		must(t, err)
		return a.(stack.SocketAddr)
	}
	g.slow, g.quick = id("S"), id("Q")
	g.open()
	return g
}

// open waits until all members let the writer send as much as they ever do at first.
func (g *slowGroup) open() {
	g.Helper()
	g.p.until(func() bool {
		n := 0
		for _, m := range musthave.Get(g.x.Members(context.Background())) {
			if m.Joined && m.Window >= flowctl.GroupIdle && m.Behind == 0 {
				n++
			}
		}
		return n == 3
	}, "three members can be sent to")
}

func (g *slowGroup) answer(line string) string {
	g.Helper()
	select {
	case a := <-g.kernel.do(line):
		return a
	case <-time.After(3 * time.Minute):
		g.Fatalf("%s: no answer", line)
	case <-g.p.ctx.Done():
		g.Fatal(g.p.ctx.Err())
	}
	return ""
}

// ask has the kernel's part do something.
func (g *slowGroup) ask(line, want string) {
	g.Helper()
	if got := g.answer(line); got != want {
		g.Fatalf("%s: got %q, want %q", line, got, want)
	}
}

// write sends the next message to all.
func (g *slowGroup) write(wait time.Duration) error {
	b := make([]byte, 100)
	play.Fill(b, uint32(g.next), 0)
	g.x.SetWriteDeadline(time.Now().Add(wait))
	_, err := g.x.Write(b)
	if err == nil {
		g.next++
	}
	return err
}

// read has those of our members and the kernel's read it that do.
func (g *slowGroup) read() {
	g.Helper()
	last, b := g.next-1, make([]byte, 200)
	g.y.SetReadDeadline(time.Now().Add(3 * time.Minute))
	n, _, err := g.y.ReadFrom(b)
	must(g.T, err)
	if n != 100 || play.Differ(b[:n], uint32(last), 0) >= 0 {
		g.Fatalf("our member read %d bytes of another message than %d", n, last)
	}
	g.ask(fmt.Sprint("Q recv ", last), "100 bytes")
}

// run sends so many messages, which all read but the slow member.
func (g *slowGroup) run(k int) {
	g.Helper()
	for range k {
		must(g.T, g.write(3*time.Minute))
		g.read()
	}
}

// event reads what the writer is told of a member.
func (g *slowGroup) event(kind stack.GroupKind, of stack.SocketAddr) {
	g.Helper()
	g.x.SetReadDeadline(time.Now().Add(3 * time.Minute))
	_, m, err := g.x.ReadMsg(make([]byte, 100))
	must(g.T, err)
	if m.Kind != kind || m.From != of {
		g.Fatalf("the writer read %+v, want %v of %v", m, kind, of)
	}
}

// whole checks that every member can write to all and hears all others.
func (g *slowGroup) whole() {
	g.Helper()
	g.ask("S send 100 7777", "ok")
	g.ask("Q recv 7777", "100 bytes")
	for _, m := range []*stack.Group{g.x, g.y} {
		m.SetReadDeadline(time.Now().Add(3 * time.Minute))
		if _, from, err := m.ReadFrom(make([]byte, 200)); err != nil || from != g.slow {
			g.Fatalf("read of %v, %v, want %v", from, err, g.slow)
		}
	}
}

// A kernel's member that does not read holds up our writer, which says so, or nobody, as
// the writer's policy is; and when it reads again it gets what it is to get, in order.
//
// Proves: group.flow
func TestGroupsWithKernel(t *testing.T) {
	p := newPair(t, usAndKernel, 1, 15*time.Minute)
	t.Run("strict", func(t *testing.T) {
		g := newSlowGroup(t, p, 29001, stack.Strict)
		g.run(flowctl.GroupIdle)
		failed := make(chan error, 1)
		go func() { failed <- g.write(time.Hour) }()
		node := p.ends[0].(*ours).node
		p.until(func() bool { return len(musthave.Get(node.Waits(p.ctx))) > 0 }, "the write waits")
		must(t, g.x.SetWriteDeadline(time.Now()))
		err := <-failed
		var e *stack.BlockedError
		if !errors.As(err, &e) || !errors.Is(err, os.ErrDeadlineExceeded) || e.Peer != g.slow || e.Group != 29001 || e.Window != 0 || e.Need != 1 {
			t.Fatalf("got %+v", err)
		}
		g.ask(fmt.Sprint("S taken ", flowctl.GroupIdle), fmt.Sprint(flowctl.GroupIdle, " taken"))
		g.run(100)
		for i := range 100 {
			g.ask(fmt.Sprint("S recv ", flowctl.GroupIdle+i), "100 bytes")
		}
		g.whole()
	})
	t.Run("lag", func(t *testing.T) {
		g := newSlowGroup(t, p, 29002, stack.Lag)
		g.run(flowctl.GroupIdle + slowLimit)
		if c := musthave.Get(g.x.Counters(context.Background())); c.Evicted != 0 {
			t.Fatalf("evicted too soon: %+v", c)
		}
		g.run(50)
		g.event(stack.MemberEvicted, g.slow)
		// What was sent before it was evicted is there, then the end.
		g.ask(fmt.Sprint("S taken ", flowctl.GroupIdle), fmt.Sprint(flowctl.GroupIdle, " taken"))
		x := g.x.LocalAddr().(stack.SocketAddr)
		g.ask("S take 0", fmt.Sprintf("left, %v, 29002:1", x))
		g.run(20)
		g.ask("S none 50", "ok")
		// When it has joined again it is a member as all others.
		g.ask("S leave", "ok")
		g.ask("S join 29002:9", "ok")
		g.ask("S members 3", "3 joined, 0 left")
		g.open()
		first := g.next
		g.run(30)
		for i := range 30 {
			g.ask(fmt.Sprint("S recv ", first+i), "100 bytes")
		}
		g.whole()
	})
	t.Run("drop oldest", func(t *testing.T) {
		g := newSlowGroup(t, p, 29003, stack.DropOldest)
		const late = 70
		g.run(flowctl.GroupIdle + slowLimit + late)
		g.event(stack.MemberDropping, g.slow)
		if c := musthave.Get(g.x.Counters(context.Background())); c.Dropped != late || c.Evicted != 0 {
			t.Errorf("counted %+v, want %d dropped", c, late)
		}
		g.ask(fmt.Sprint("S taken ", flowctl.GroupIdle), fmt.Sprint(flowctl.GroupIdle, " taken"))
		for i := range slowLimit {
			g.ask(fmt.Sprint("S recv ", flowctl.GroupIdle+late+i), "100 bytes")
		}
		g.open()
		for range 30 { // broadcasts go to its node again
			g.run(1)
			g.ask(fmt.Sprint("S recv ", g.next-1), "100 bytes")
		}
		if c := musthave.Get(g.x.Counters(context.Background())); c.Dropped != late {
			t.Errorf("counted %+v, want %d dropped still", c, late)
		}
		g.whole()
	})
}
