// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
)

// Four kernels and two nodes of ours watch each other by rings: all tell the same of
// everybody's domain, and supervise whom they should. One of the kernels dies, then one
// of ours: everybody notices, and nobody loses anybody else.
//
// Proves: contact.monitor
func TestRingWithKernels(t *testing.T) {
	const threshold = 2
	w := newMonitorCluster(t, 15*time.Minute, 6, 1, 2, 4, 5)
	for _, k := range w.kernels {
		out, err := k.guest.Run(w.ctx, fmt.Sprintf("tipc link monitor set threshold %d && tipc bearer enable media eth device eth0", threshold))
		if err != nil {
			t.Fatalf("%v: %v\n%s", k.node, err, out)
		}
	}
	for _, i := range []int{0, 3} {
		w.open(i, stack.Config{MonitorThreshold: threshold})
	}
	w.meet(w.members()...)
	views := w.agree("all up")
	t.Log(views[ourAddr])
	w.summaries("overlapping-ring", 6)
	var dead []stack.NodeAddr
	for _, a := range []stack.NodeAddr{monitorAddr(4), monitorAddr(3)} {
		began := w.kill(a)
		dead = append(dead, a)
		for who, took := range w.noticed(began) {
			kind := "ours"
			if w.kernels[who] != nil {
				kind = "kernel"
			}
			promise := goneWithin
			if !row(views[who], a).Direct { // it is told, and then looks for itself
				promise += defaultTolerance + defaultInterval
			}
			t.Logf("%v, %s, notices the death of %v after %v; to be expected: %v", who, kind, a, took.Round(time.Millisecond), promise)
		}
		views = w.agree(fmt.Sprintf("without %v", a))
		w.lost(dead...)
	}
}

// summaries compares how members sum up how they watch.
func (w *monitorCluster) summaries(algorithm string, size int) {
	w.t.Helper()
	want := fmt.Sprintf("cluster_size %d\n    algorithm %s\n", size, algorithm)
	for _, m := range w.members() {
		text := ""
		if k, ok := m.(*kernelMember); ok {
			out, err := k.guest.Run(w.ctx, "tipc link monitor summary")
			must(w.t, err)
			text = out + "\n" // which the channel cuts off
		} else {
			text = musthave.Get(m.(*ourMember).node.Admin().Monitor(context.Background()))[0].Summary()
		}
		var generation int
		if _, err := fmt.Sscanf(text, "\nbearer eth:eth0\n    table_generation %d\n", &generation); err != nil || generation == 0 || !strings.HasSuffix(text, want) {
			w.t.Errorf("%v: got %q (%v), want the end %q", m.addr(), text, err, want)
		}
	}
}

// A tally is what a kernel's link protocol says to its neighbours.
type tally struct {
	mu     sync.Mutex // guards what follows
	probed map[stack.NodeAddr]bool
	tallied
}

type tallied struct {
	probes        int // STATEs that ask for an answer
	full, dummies int // records of its domain, and such without members, for who has it already
}

func (y *tally) see(b []byte) {
	l, domain, ok := stateOf(b)
	if !ok {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if s, _ := l.State(); s.Probe() {
		y.probed[l.Info().Dest] = true
		y.probes++
	}
	if d, err := frame.ParseDomain(domain); err == nil && d.Len() > 0 {
		y.full++
	} else if err == nil {
		y.dummies++
	}
}

// sum returns what was said, and to how many.
func (y *tally) sum() (nodes int, said tallied) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return len(y.probed), y.tallied
}

// take returns what was said, and to how many, and begins anew.
func (y *tally) take() (nodes int, said tallied) {
	y.mu.Lock()
	defer y.mu.Unlock()
	nodes, said = len(y.probed), y.tallied
	y.probed, y.tallied = map[stack.NodeAddr]bool{}, tallied{}
	return nodes, said
}

// stateOf takes the monitor's record, in the frame's own memory, out of a STATE.
func stateOf(b []byte) (l frame.LinkMessage, domain []byte, ok bool) {
	m, err := frame.Parse(b[frame.EthernetLen:])
	if err != nil || m.User() != frame.UserLink {
		return l, nil, false
	}
	if l, err = frame.ParseLink(m); err != nil || !l.IsState() {
		return l, nil, false
	}
	data := l.Data()
	if len(data) >= 4 {
		data = data[min(len(data), int(data[0])<<8|int(data[1])):] // behind the Gap ACK record
	}
	return l, data, true
}

// spoil makes the monitor's record of a STATE one that nobody takes, with more members
// than there may be.
func spoil(b []byte) {
	if _, domain, _ := stateOf(b); len(domain) >= 16 {
		domain[6], domain[7] = 0xff, 0xff
	}
}

// A kernel and forty nodes of ours are a cluster above the threshold that a kernel begins
// with: it watches us by our records, and resets nobody. Without them it probes all of
// us at every interval.
//
// Proves: contact.monitor
func TestManyOfOursWithKernel(t *testing.T) {
	if raceDetector {
		t.Skip("not under the race detector: forty nodes of one process would be too slow to hear each other in time")
	}
	const many = 40
	calm := 20 * time.Second
	switch {
	case os.Getenv("UTIPC_LONG") != "":
		calm = 5 * time.Minute // the kernel looks after its domain each two to three
	case testing.Short():
		calm = 5 * time.Second
	}
	w := newMonitorCluster(t, 15*time.Minute+calm, many+1, 20)
	kernel := monitorAddr(20)
	for i := range many + 1 {
		if a := monitorAddr(i); a != kernel {
			w.open(i, stack.Config{Chunks: 128, Wait: stack.Sleep, Logger: quiet})
		}
	}
	out, err := w.kernels[kernel].guest.Run(w.ctx, "tipc bearer enable media eth device eth0")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.meet(w.members()...)
	views := w.agree("all up")
	t.Log(views[kernel])
	w.summaries("overlapping-ring", many+1)
	watched := 0
	for _, r := range views[kernel].Members[1:] {
		if r.Direct {
			watched++
		}
	}
	told := &tally{probed: map[stack.NodeAddr]bool{}}
	var bad atomic.Bool
	w.segment.watch(func(b []byte) {
		if frame.MAC(b[6:]) == monitorMAC(20) {
			told.see(b)
		} else if bad.Load() && frame.MAC(b) == monitorMAC(20) {
			spoil(b)
		}
	})
	defer w.segment.watch(nil)
	w.pause(calm)
	nodes, said := told.take()
	t.Logf("with our records: in %v the kernel sent %d probes to %d of %d nodes, of whom it supervises %d; records %d full, %d without members",
		calm, said.probes, nodes, many, watched, said.full, said.dummies)
	if said.full > said.dummies/10 {
		t.Errorf("the kernel's domain is not acknowledged: %d full records, %d without members", said.full, said.dummies)
	}
	w.lost()
	w.agree("after that")
	// One of the kernel's own domain dies, and nobody acknowledges what it has to tell.
	bad.Store(true)
	dead := monitorAddr(21)
	w.noticed(w.kill(dead))
	told.take()
	began := time.Now()
	// It probes all there are at every interval: the first to be probed are soon probed again.
	for nodes, said = told.sum(); nodes < many-1 || said.probes < 5*nodes; nodes, said = told.sum() {
		if w.pause(100 * time.Millisecond); w.ctx.Err() != nil {
			t.Fatalf("without records it probes %d of %d nodes, %d times", nodes, many-1, said.probes)
		}
	}
	t.Logf("without: in %v the kernel sent %d probes to %d of %d nodes; records %d full, %d without members", time.Since(began), said.probes, nodes, many-1, said.full, said.dummies)
	if said.full < 9*said.dummies {
		t.Errorf("without records it sends %d full records and %d without members", said.full, said.dummies)
	}
	w.lost(dead)
	bad.Store(false)
	w.agree("with records again")
	w.lost(dead)
}

// pause lets time pass, and ends early when the test must.
func (w *monitorCluster) pause(d time.Duration) {
	select {
	case <-time.After(d):
	case <-w.ctx.Done():
	}
}
