// SPDX-License-Identifier: Apache-2.0

package launch

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/udp"
)

// closeTimeout is how long a node waits at its end for others to acknowledge.
const closeTimeout = 2 * time.Second

// window is how far a link's window may grow, in packets: the kernels' longest messages, of 64
// to 128 KiB, go out without waiting for the receiver, who may be computing. With the 50 that
// is the default a sort took up to half as long again.
const window = 400

// enter makes a rank's Place and gives it to f. Over the stack it opens a node on what open
// opens, and closes it behind f.
func enter(ctx context.Context, s Spec, k kernel.Kernel, open func() (stack.Bearer, error), f func(ranks.Place) error) (err error) {
	p := ranks.Place{Rank: s.Rank, Ranks: s.Ranks, Hosts: s.Hosts, Wait: waits[s.Wait]}
	if s.Over == TCP {
		return f(p)
	}
	dev, err := open()
	if err != nil {
		return err
	}
	p.Node, err = stack.Open(ctx, stack.Config{
		Bearers: []stack.Bearer{dev}, Address: stack.NodeAddr(0x1001001 + s.Rank), Wait: p.Wait,
		MaxWindow: window, GoPoller: k.BothWays, Tolerance: tolerance,
	})
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		p.Node.Close(ctx) // whether the others are still there to acknowledge is not asked
	}()
	return f(p)
}

// openUDP is a rank's bearer on the loopback interface.
func openUDP(s Spec) (stack.Bearer, error) {
	others := slices.Delete(slices.Clone(s.Hosts), s.Rank, s.Rank+1)
	c, err := udp.ParseConfig(s.Hosts[s.Rank]+","+strings.Join(others, ","), frame.DefaultNetID)
	if err != nil {
		return nil, err
	}
	return udp.Open(c)
}
