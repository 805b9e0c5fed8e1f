// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"fmt"
	"time"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// lossSize is the length of the messages, so that each has a packet.
const lossSize = 1400

// losses are the shares lost each way; the first is what the others stand beside. At the
// last no link may go down.
var losses = [...]float64{0, 0.001, 0.01, 0.05, 0.1}

// A window is one of those compared.
type window struct {
	id, name string
	link     stack.LinkConfig
	target   [len(losses)]float64 // beside no loss; 0: none
}

var windows = [...]window{
	{id: "static", name: "static window 50", link: stack.LinkConfig{Window: 50}},
	{id: "adaptive", name: "window 50 to 8191", link: stack.LinkConfig{Window: 50, MaxWindow: 8191}, target: [len(losses)]float64{2: 0.6}},
}

// settling is how long a new loss works before it is measured.
const settling = 50 * time.Millisecond

// lossRows measure goodput at a loss beside none, in every round of both.
func lossRows(ctx context.Context, p Plan, driver xdp.Config) (rows []Row) {
	resets, errs := uint64(0), error(nil)
	for _, w := range windows {
		m, err := measureLoss(ctx, p, w, driver)
		resets += m.resets
		if err != nil {
			errs = err
		}
		for i, loss := range losses {
			r := Row{ID: fmt.Sprintf("loss-%g-%s", 100*loss, w.id), What: fmt.Sprintf("veth at full rate, 1400 B, %g %% lost, %s, beside no loss", 100*loss, w.name)}
			var ratios, megabytes []float64
			for k, rate := range m.rates[i] {
				ratios = append(ratios, rate/m.rates[0][k])
				megabytes = append(megabytes, rate*lossSize/1e6)
			}
			r.Notes = fmt.Sprintf("%.2f %% of the packets sent were repetitions; the devices dropped %d frames", 100*m.repeated(i), m.dropped[i])
			if w.target[i] > 0 {
				r.Goal, r.Target = AtLeast, w.target[i]
			}
			if r.Value = sheet.Median(ratios); i == 0 {
				r.What, r.Value, r.Unit = fmt.Sprintf("veth at full rate, 1400 B, %s, nothing lost", w.name), sheet.Median(megabytes), "MB/s"
			} else {
				r.Notes = fmt.Sprintf("%.1f MB/s; ", sheet.Median(megabytes)) + r.Notes
			}
			if err != nil {
				r.Error = err.Error()
			}
			rows = append(rows, r)
		}
	}
	last := Row{ID: "loss-resets", What: fmt.Sprintf("resets of links up to %g %% lost, default tolerance", 100*losses[len(losses)-1]), Value: float64(resets), Goal: AtMost}
	if errs != nil {
		last.Error = errs.Error()
	}
	return append(rows, last)
}

// A lossResult is what a window came to, by loss.
type lossResult struct {
	rates                [len(losses)][]float64 // messages a second, of each round
	sent, again, dropped [len(losses)]uint64    // packets, their repetitions, and frames devices lost
	resets               uint64
}

// repeated is the share of packets sent that were repetitions.
func (m *lossResult) repeated(i int) float64 {
	return float64(m.again[i]) / float64(max(1, m.sent[i]+m.again[i]))
}

func measureLoss(ctx context.Context, plan Plan, w window, driver xdp.Config) (m lossResult, err error) {
	p, err := openPair(ctx, config{cables: 1, mtu: 1500, link: w.link, driver: driver})
	if err != nil {
		return m, err
	}
	defer p.close()
	s, err := p.stream(lossSize, 0)
	if err != nil {
		return m, err
	}
	for round := range plan.Rounds {
		for i, loss := range losses {
			p.lose(0, loss, uint64(100*round+10*i))
			pause(ctx, settling)
			before, dropped := must.Get(p.nodes[0].Admin().Links(context.Background()))[0], p.dropped()
			m.rates[i] = append(m.rates[i], s.rate(ctx, plan.For))
			after := must.Get(p.nodes[0].Admin().Links(context.Background()))[0]
			m.sent[i] += after.SentPackets - before.SentPackets
			m.again[i] += after.Retransmits - before.Retransmits
			m.dropped[i] += p.dropped() - dropped
		}
	}
	m.resets = p.resets()
	p.lose(0, 0, 0)
	wrong, err := s.end()
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d messages were lost, doubled or reordered", wrong)
	}
	if err == nil {
		err = ctx.Err()
	}
	return m, err
}
