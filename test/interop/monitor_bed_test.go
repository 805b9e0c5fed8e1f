// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/test/interop/rig"
)

// A monitorCluster is nodes of ours and kernels in one segment, from 1.1.1 on.
type monitorCluster struct {
	t       *testing.T
	ctx     context.Context
	segment *Segment
	links   []rig.Link
	ours    map[stack.NodeAddr]*monitorNode
	kernels map[stack.NodeAddr]*kernelMember
	ledgers map[stack.NodeAddr]*ledger // of nodes in contact, by who keeps it
}

// A monitorNode is a node of ours, and the cable that it is cut off by.
type monitorNode struct {
	*stack.Node
	cable *Cable
}

// quiet is for nodes of which there are many.
var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func monitorAddr(i int) stack.NodeAddr { return ourAddr + stack.NodeAddr(i) }
func monitorMAC(i int) frame.MAC       { return frame.MAC{0x52, 0x54, 0, 0, 3, byte(i)} }

// newMonitorCluster makes a segment of so many stations, and kernels of some of them, without
// bearers yet; the others are for nodes of ours.
func newMonitorCluster(t *testing.T, testTimeout time.Duration, stations int, kernels ...int) *monitorCluster {
	t.Helper()
	im := rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	w := &monitorCluster{t: t, ctx: ctx, ours: map[stack.NodeAddr]*monitorNode{}, kernels: map[stack.NodeAddr]*kernelMember{}, ledgers: map[stack.NodeAddr]*ledger{}}
	var macs []frame.MAC
	for i := range stations {
		macs = append(macs, monitorMAC(i))
	}
	var err error
	w.segment, w.links, err = NewSegment(macs...)
	must(t, err)
	t.Cleanup(w.shut)
	var mu sync.Mutex // guards err and the map
	var wg sync.WaitGroup
	for _, i := range kernels {
		wg.Go(func() {
			a := monitorAddr(i)
			g, err1 := rig.Start(ctx, im, rig.Options{Name: fmt.Sprintf("kernel-%d", i), Address: fmt.Sprintf("%x", uint32(a)), Links: w.links[i : i+1], Tolerance: patient})
			mu.Lock()
			defer mu.Unlock()
			if err = errors.Join(err, err1); err1 == nil {
				w.kernels[a] = &kernelMember{ctx: ctx, guest: g, node: a}
			}
		})
	}
	wg.Wait()
	must(t, err)
	return w
}

// open makes a station a node of ours.
func (w *monitorCluster) open(i int, c stack.Config) {
	w.t.Helper()
	cable, err := OpenCable("eth0", w.links[i])
	must(w.t, err)
	c.Bearers, c.Address, c.Tolerance = []stack.Bearer{cable}, monitorAddr(i), patient
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(logWriter{w.t}, nil))
	}
	n, err := stack.Open(w.ctx, c)
	must(w.t, err)
	w.ours[c.Address] = &monitorNode{n, cable}
}

// members are all that live, by address.
func (w *monitorCluster) members() (all []member) {
	for _, n := range w.ours {
		all = append(all, &ourMember{ctx: w.ctx, node: n.Node})
	}
	for _, k := range w.kernels {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b member) int { return int(a.addr()) - int(b.addr()) })
	return all
}

// known are all that live, as the events of nodes tell it.
func (w *monitorCluster) known() bounds {
	want := bounds{}
	for _, o := range w.members() {
		a := uint32(o.addr())
		want[bound{stack.Range{Type: stack.NodeState, Lower: a, Upper: a}, stack.SocketAddr{Node: o.addr()}}] = 1
	}
	return want
}

// meet waits until some members are in contact with all.
func (w *monitorCluster) meet(ms ...member) {
	w.t.Helper()
	for _, m := range ms {
		w.ledgers[m.addr()] = m.watch(w.t, stack.NodeState)
	}
	want := w.known()
	for _, m := range ms {
		if _, err := w.ledgers[m.addr()].until(w.ctx, want); err != nil {
			w.t.Fatalf("at %v: %v", m.addr(), err)
		}
	}
}

// kill cuts a member's power, has the others notice soon, and returns when.
func (w *monitorCluster) kill(a stack.NodeAddr) time.Time {
	w.t.Helper()
	began := time.Now()
	if k := w.kernels[a]; k != nil {
		must(w.t, k.guest.Kill())
		delete(w.kernels, a)
	} else {
		n := w.ours[a]
		must(w.t, n.cable.Close()) // what it says from now on nobody hears
		ctx, cancel := context.WithCancel(w.ctx)
		cancel()
		n.Close(ctx)
		delete(w.ours, a)
	}
	delete(w.ledgers, a)
	for _, m := range w.members() {
		must(w.t, m.suspect(a))
	}
	return began
}

// noticed waits until all that live know who they are, and returns how long after a
// moment each of them did.
func (w *monitorCluster) noticed(began time.Time) map[stack.NodeAddr]time.Duration {
	w.t.Helper()
	took := map[stack.NodeAddr]time.Duration{}
	want := w.known()
	for a, l := range w.ledgers {
		at, err := l.until(w.ctx, want)
		if err != nil {
			w.t.Fatalf("at %v: %v", a, err)
		}
		took[a] = at.Sub(began)
	}
	return took
}

// lost checks that nobody has lost contact but with some.
func (w *monitorCluster) lost(dead ...stack.NodeAddr) {
	w.t.Helper()
	for a, l := range w.ledgers {
		var got []stack.NodeAddr
		for _, x := range l.gone() {
			got = append(got, x.Socket.Node)
		}
		if !slices.Equal(got, dead) {
			w.t.Errorf("%v lost contact with %v, want %v", a, got, dead)
		}
	}
}

// list is how a member watches the others.
func (w *monitorCluster) list(m member) *admin.Monitor {
	w.t.Helper()
	text := ""
	if k, ok := m.(*kernelMember); ok {
		var err error
		text, err = k.guest.Run(w.ctx, "tipc link monitor list")
		must(w.t, err)
		text += "\n" // which the channel cuts off
	} else {
		text = musthave.Get(m.(*ourMember).node.Admin().Monitor(context.Background()))[0].String()
	}
	v, err := parseMonitor(text)
	must(w.t, err)
	if got := v.String(); got != text {
		w.t.Errorf("%v prints\n%q\nwe would\n%q", m.addr(), text, got)
	}
	return &v
}

// agree waits until all lists agree. They are of different moments: so it asks again.
func (w *monitorCluster) agree(what string) map[stack.NodeAddr]*admin.Monitor {
	w.t.Helper()
	began := time.Now()
	for {
		views := map[stack.NodeAddr]*admin.Monitor{}
		for _, m := range w.members() {
			views[m.addr()] = w.list(m)
		}
		differ := differing(views)
		if differ == "" {
			w.t.Logf("%s: %d lists agree after %v", what, len(views), time.Since(began).Round(10*time.Millisecond))
			return views
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-w.ctx.Done():
		}
		if time.Since(began) > agreement || w.ctx.Err() != nil {
			w.t.Fatalf("%s: after %v\n%s", what, time.Since(began), differ)
		}
	}
}

// shut ends all: ours first, which say goodbye.
func (w *monitorCluster) shut() {
	for _, n := range w.ours {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		if err := n.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
			w.t.Errorf("close: %v", err)
		}
		cancel()
	}
	for _, k := range w.kernels {
		k.guest.Close()
		if w.t.Failed() {
			w.t.Logf("console of %v:\n%s", k.node, k.guest.Console())
		}
	}
	w.segment.Close()
	for _, l := range w.links {
		l.Close()
	}
}
