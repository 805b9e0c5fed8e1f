// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"fmt"
	"testing"
	"time"

	"github.com/utipc/utipc/stack/carrier/fault"
)

// Frames are lost, doubled and reordered, each 2 % both ways, while messages from 1
// to 66000 bytes go both ways: all arrive, once, in order, unchanged, and no link is
// reset that a pair of kernels would not have reset.
//
// Proves: link.order
func TestFaultsBothWays(t *testing.T) {
	resets := map[string]int{}
	for _, name := range pairs {
		t.Run(name, func(t *testing.T) {
			d := faultTime(t)
			p := newPair(t, name, 1, d+15*time.Minute)
			f := fault.Faults{Loss: 0.02, Duplicate: 0.02, Reorder: 0.02}
			p.lines[0].Set(fault.Config{Seed: 7, In: f, Out: f})
			before := p.totals()
			streams := []*stream{p.stream(0, 0, 0), p.stream(1, 0, 0)}
			p.run(d)
			p.until(func() bool {
				in, out := p.lines[0].Counts()
				return in.Lost > 0 && out.Lost > 0 && in.Duplicated > 0 && out.Duplicated > 0 && in.Reordered > 0 && out.Reordered > 0
			}, "every fault has happened")
			for _, s := range streams {
				r, sent := s.end()
				t.Logf("from station %d: %d messages, %s, refused %d", s.from, r.Messages, rate(r.Goodput()), sent.Refused)
			}
			after := p.totals()
			for k := range after {
				resets[name] += after[k].resets
				t.Logf("station %d: %d packets, %d repeated, %d resets", k, after[k].sent-before[k].sent,
					after[k].retransmitted-before[k].retransmitted, after[k].resets)
			}
			in, out := p.lines[0].Counts()
			t.Logf("the line: in %+v, out %+v", in, out)
		})
	}
	if us, kernels := resets[usAndKernel], resets[twoKernels]; us > kernels {
		t.Errorf("%d resets, %d between two kernels", us, kernels)
	}
}

// totals sums up the links of each station.
func (p *pair) totals() (sum [2]linkState) {
	p.t.Helper()
	for k, s := range p.ends {
		for _, l := range s.links(p.t) {
			sum[k].sent += l.sent
			sum[k].retransmitted += l.retransmitted
			sum[k].resets += l.resets
		}
	}
	return sum
}

// rate writes bytes a second.
func rate(b float64) string { return fmt.Sprintf("%.1f MB/s", b/1e6) }
