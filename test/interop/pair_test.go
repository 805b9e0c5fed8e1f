// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/flow"
	"github.com/utipc/utipc/test/interop/rig"
)

const longestMessage = 66000

// A pair is two stations and the lines between them. The second is a kernel, the
// first one of the two, as its name tells.
type pair struct {
	t     *testing.T
	ctx   context.Context
	name  string // usAndKernel, twoKernels
	lines []*Line
	ends  [2]station
	plan  flow.Plan // of streams; seed, length and pace are each stream's own
	next  uint32    // instance of the next stream
}

const usAndKernel, twoKernels = "us and a kernel", "two kernels"

var pairs = []string{twoKernels, usAndKernel}

// us reports whether a station is ours.
func (p *pair) us() bool { return p.name == usAndKernel }

// newPair starts two stations and waits until they are in contact over all lines.
func newPair(t *testing.T, name string, lines int, testTimeout time.Duration) *pair {
	t.Helper()
	im := rig.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	p := &pair{t: t, ctx: ctx, name: name}
	var links [2][]rig.Link
	for i := range lines {
		l, ends, err := NewLine(frame.MAC{0x52, 0x54, 0, 0, byte(i), 1}, frame.MAC{0x52, 0x54, 0, 0, byte(i), 2})
		must(t, err)
		t.Cleanup(func() { l.Close() })
		p.lines = append(p.lines, l)
		for k, e := range ends {
			t.Cleanup(func() { e.Close() })
			links[k] = append(links[k], e)
		}
	}
	if p.us() {
		o := newOurs(t, ctx, links[0])
		p.ends[0], links[0] = o, nil
		defer func() { t.Cleanup(o.shut) }() // before the kernel, which is to acknowledge what it says
	}
	started := make(chan error, 2)
	kernels := 0
	for k, addr := range []stack.NodeAddr{ourAddr, kernelAddr} {
		if links[k] == nil {
			continue
		}
		kernels++
		go func() {
			s, err := newTheirs(ctx, im, addr, links[k])
			if err == nil {
				p.ends[k] = s
				t.Cleanup(func() {
					s.guest.Close()
					if t.Failed() {
						t.Logf("console of %x:\n%s", uint32(addr), s.guest.Console())
					}
				})
			}
			started <- err
		}()
	}
	var err error
	for range kernels {
		err = errors.Join(err, <-started)
	}
	must(t, err)
	p.contact()
	return p
}

// newOurs opens a node on a cable to each link.
func newOurs(t *testing.T, ctx context.Context, links []rig.Link) *ours {
	t.Helper()
	s := &ours{ctx: ctx, peer: kernelAddr, wires: links}
	cfg := stack.Config{Address: ourAddr, Tolerance: patient, Logger: slog.New(slog.NewTextHandler(logWriter{t}, nil))}
	for i, l := range links {
		c, err := OpenCable(ifaces[i], l)
		must(t, err)
		s.cables = append(s.cables, c)
		cfg.Bearers = append(cfg.Bearers, c)
	}
	var err error
	s.node, err = stack.Open(ctx, cfg)
	must(t, err)
	s.shut = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := s.node.Close(ctx); err != nil && !errors.As(err, new(*stack.UnsentError)) {
			t.Errorf("close: %v", err)
		}
		if st := musthave.Get(s.node.Admin().Stats(context.Background())); st.ChunksFree != st.ChunksTotal {
			t.Errorf("%d of %d chunks came back", st.ChunksFree, st.ChunksTotal)
		}
	})
	t.Cleanup(s.shut)
	return s
}

// contact waits until all links are up at both ends.
func (p *pair) contact() {
	p.t.Helper()
	for k, s := range p.ends {
		s.knows(p.t, nodeState(p.ends[1-k].addr()))
	}
	p.linksAre(len(p.lines))
}

// linksAre waits until that many links are up at both ends.
func (p *pair) linksAre(n int) {
	p.t.Helper()
	for _, s := range p.ends {
		p.until(func() bool { return s.linksUp() == n }, "%d links of %x are up", n, uint32(s.addr()))
	}
}

// until asks again and again until the answer is yes.
func (p *pair) until(yes func() bool, format string, args ...any) {
	p.t.Helper()
	p.untilTold(func() {}, yes, format, args...)
}

// untilTold is until for what a frame brings about that may be lost and that nothing repeats:
// tell is called at once, and again each second.
func (p *pair) untilTold(tell func(), yes func() bool, format string, args ...any) {
	p.t.Helper()
	tick, again := time.NewTicker(5*time.Millisecond), time.NewTicker(time.Second)
	defer tick.Stop()
	defer again.Stop()
	tell()
	for !yes() {
		select {
		case <-tick.C:
		case <-again.C:
			tell()
		case <-p.ctx.Done():
			p.t.Fatalf("%v: not so: %s", p.ctx.Err(), fmt.Sprintf(format, args...))
		}
	}
}

// tolerate sets the tolerance of a link at both ends: one cannot tell the other of it while
// the link is down.
func (p *pair) tolerate(line int, d time.Duration) error {
	return errors.Join(p.ends[0].setTolerance(line, d), p.ends[1].setTolerance(line, d))
}

// atBoth has both stations do the same at once.
func (p *pair) atBoth(do func(station) error) {
	p.t.Helper()
	done := make(chan error, 2)
	for _, s := range p.ends {
		go func() { done <- do(s) }()
	}
	must(p.t, errors.Join(<-done, <-done))
}

// run lets d pass.
func (p *pair) run(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.ctx.Done():
		p.t.Fatal(p.ctx.Err())
	}
}

// A stream is a flow between the stations of a pair.
type stream struct {
	p    *pair
	from int
	hearer
	speaker
}

const flowType = 18900

// stream starts one from a station to the other, as fast as it goes or at a pace.
func (p *pair) stream(from, parity int, pace time.Duration) *stream {
	p.t.Helper()
	p.next++
	at := stack.Service{Type: flowType, Instance: p.next}
	src, dst := p.ends[from], p.ends[1-from]
	plan := p.plan
	plan.Seed, plan.Longest, plan.Pace = p.next, longestMessage, pace
	s := &stream{p: p, from: from, hearer: dst.hear(p.t, at, plan)}
	src.knows(p.t, at)
	s.speaker = src.speak(p.t, at, plan, parity)
	return s
}

// end ends the stream; everything must have arrived.
func (s *stream) end() (flow.Report, flow.Sent) {
	s.p.t.Helper()
	sent := s.stop(s.p.t)
	r := s.report(s.p.t)
	if !r.Whole() || r.Messages != sent.Messages || sent.Returned+sent.Stalls > 0 {
		s.p.t.Errorf("%s, from station %d: sent %+v, received %+v", s.p.name, s.from, sent, r)
	}
	return r, sent
}

// faultTime is how long traffic runs under faults: UTIPC_FAULT_TIME if it is set,
// as the long run of the tests does, else 10 s, or 2 s if tests are to be short.
func faultTime(t *testing.T) time.Duration {
	t.Helper()
	if v := os.Getenv("UTIPC_FAULT_TIME"); v != "" {
		d, err := time.ParseDuration(v)
		must(t, err)
		return d
	}
	if testing.Short() {
		return 2 * time.Second
	}
	return 10 * time.Second
}
