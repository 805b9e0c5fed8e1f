// SPDX-License-Identifier: Apache-2.0

package names

import (
	"context"
	"errors"
	"fmt"

	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/xdp"
)

// multicastSizes are those of the messages, in bytes.
var multicastSizes = []int{64, 1400}

// multicastRows measure how many messages a second reach three nodes, by each way to send
// them.
func multicastRows(ctx context.Context, p Plan, driver xdp.Config) (rows []Row) {
	s, err := openSegment(ctx, driver)
	if err == nil {
		defer s.close()
	}
	wrong := Row{ID: "multicast-wrong", What: "messages lost, doubled or reordered in all these", Goal: sheet.AtMost}
	dropped := Row{ID: "multicast-dropped", What: "frames dropped by devices, messages by sockets, in all these", Goal: sheet.AtMost}
	for _, size := range multicastSizes {
		x := waysOf(size)
		if err == nil {
			var n uint64
			n, err = s.multicast(ctx, p, size, x)
			wrong.Value += float64(n)
		}
		if err != nil {
			sheet.Rows(x).Break(err)
		}
		rows = append(rows, x...)
	}
	if err != nil {
		wrong.Error, dropped.Error = err.Error(), err.Error()
	} else {
		frames, messages := s.dropped()
		dropped.Value = float64(frames + messages)
		dropped.Notes = fmt.Sprintf("%d packets were sent again", s.repeated())
	}
	return append(rows, wrong, dropped)
}

// waysOf are the rows of one size: a rate for each way, in their order, and a ratio.
func waysOf(size int) (rows []Row) {
	for _, w := range ways {
		rows = append(rows, Row{ID: fmt.Sprintf("multicast-%d-%s", size, w.id), What: fmt.Sprintf("%d B messages to 3 nodes, %s", size, w.what), Unit: "k/s"})
	}
	return append(rows, Row{ID: fmt.Sprintf("multicast-%d-ratio", size), What: fmt.Sprintf("%d B messages, by broadcast beside 3 unicasts", size)})
}

// multicast fills the rows of waysOf, and returns how many messages came wrong. In every
// round all ways have their turn.
func (s *segment) multicast(ctx context.Context, p Plan, size int, rows []Row) (wrong uint64, err error) {
	f, err := s.openFlock(ctx, size)
	if err != nil {
		return 0, err
	}
	defer func() {
		n, err2 := f.close()
		wrong, err = n, errors.Join(err, err2)
	}()
	rates, frames := make([][]float64, len(ways)), make([][]float64, len(ways))
	var ratios []float64
	for range p.Rounds {
		var last []float64
		for i := range ways {
			r, err := f.run(ctx, i, p.For)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", ways[i].what, err)
			}
			rates[i], frames[i] = append(rates[i], r.rate), append(frames[i], r.frames)
			last = append(last, r.rate)
		}
		ratios = append(ratios, last[byBroadcast]/last[byUnicast])
	}
	for i := range ways {
		rows[i].Value = sheet.Median(rates[i]) / 1000
		rows[i].Notes = fmt.Sprintf("%.2f frames of the sender a message", sheet.Median(frames[i]))
	}
	rows[len(ways)].Value = sheet.Median(ratios)
	return 0, nil
}
