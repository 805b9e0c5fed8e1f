// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// longRows measure messages of the largest size.
func longRows(ctx context.Context, p Plan, driver xdp.Config) (rows []Row) {
	for _, mtu := range []int{1500, 9000, 65000} {
		r := Row{ID: fmt.Sprint("long-", mtu), What: fmt.Sprintf("%d B messages one way, veth, MTU %d", frame.MaxPayload, mtu), Unit: "MB/s"}
		rates, err := measureLong(ctx, p, mtu, driver)
		if r.Value = sheet.Median(rates) * frame.MaxPayload / 1e6; err != nil {
			r.Error = err.Error()
		}
		rows = append(rows, r)
	}
	return rows
}

func measureLong(ctx context.Context, plan Plan, mtu int, driver xdp.Config) (rates []float64, err error) {
	p, err := openPair(ctx, config{cables: 1, mtu: mtu, link: stack.LinkConfig{Window: 50, MaxWindow: 8191}, driver: driver})
	if err != nil {
		return nil, err
	}
	defer p.close()
	s, err := p.stream(frame.MaxPayload, 0)
	if err != nil {
		return nil, err
	}
	pause(ctx, settling)
	for range plan.Rounds {
		rates = append(rates, s.rate(ctx, plan.For))
	}
	wrong, err := s.end()
	switch {
	case err == nil && wrong > 0:
		err = fmt.Errorf("%d messages were lost, doubled or reordered", wrong)
	case err == nil && p.resets() > 0:
		err = fmt.Errorf("%d resets", p.resets())
	case err == nil:
		err = ctx.Err()
	}
	return rates, err
}
