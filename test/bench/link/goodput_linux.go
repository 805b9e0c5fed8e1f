// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/xdp"
)

// A Lossy is a way to move data over a cable that loses frames.
type Lossy struct {
	Name string
	Ours bool
	open func(ctx context.Context) (sender, error)
}

// A sender sends all the time, over a cable of its own.
type sender interface {
	lose(share float64) error
	// goodput is the rate at which data arrives meanwhile, in bytes a second.
	goodput(ctx context.Context, d time.Duration) float64
	// end ends it; the error says what of the data was wrong.
	end() error
}

// Lossies are all of them: this stack over AF_PACKET, with messages of a packet each, and
// the kernel's TCP, whose frames are as long.
var Lossies = []Lossy{
	{"utipc, window 50, go-back-N", true, func(ctx context.Context) (sender, error) {
		return openMessages(ctx, stack.LinkConfig{Window: 50}, true)
	}},
	{"utipc, window 50, gap-ack", true, func(ctx context.Context) (sender, error) {
		return openMessages(ctx, stack.LinkConfig{Window: 50}, false)
	}},
	{"utipc, window 50 to 8191, gap-ack", true, func(ctx context.Context) (sender, error) {
		return openMessages(ctx, stack.LinkConfig{Window: 50, MaxWindow: 8191}, false)
	}},
	{"TCP cubic, without offloads", false, func(context.Context) (sender, error) { return openStream() }},
}

// Goodput opens one, warms it up, and measures it for a time at each share of frames lost,
// both ways; in bytes a second.
func (l Lossy) Goodput(ctx context.Context, shares []float64, d time.Duration) (rates []float64, err error) {
	s, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	pause(ctx, d)
	for _, share := range shares {
		if err := s.lose(share); err != nil {
			return nil, errors.Join(err, s.end())
		}
		pause(ctx, settling)
		rates = append(rates, s.goodput(ctx, d))
		if ctx.Err() != nil {
			break
		}
	}
	return rates, errors.Join(s.lose(0), s.end(), ctx.Err())
}

// messages is a pair of nodes, a stream of messages, and what loses their frames.
type messages struct {
	pair   *pair
	stream *stream
	drops  [2]*dropper
}

// openMessages makes it; elder nodes know no gap-ack blocks.
func openMessages(ctx context.Context, link stack.LinkConfig, oldPeers bool) (_ sender, err error) {
	m := &messages{}
	m.pair, err = openPair(ctx, config{cables: 1, mtu: 1500, link: link, oldPeers: oldPeers, driver: xdp.Config{Driver: xdp.AFPacket}})
	if err != nil {
		return nil, err
	}
	if m.drops, err = newDroppers(m.pair.beds[0]); err == nil {
		m.stream, err = m.pair.stream(lossSize, 0)
	}
	if err != nil {
		closeDroppers(m.drops)
		m.pair.close()
		return nil, err
	}
	return m, nil
}

func (m *messages) lose(share float64) error { return setDroppers(m.drops, share) }

func (m *messages) goodput(ctx context.Context, d time.Duration) float64 {
	return m.stream.rate(ctx, d) * lossSize
}

func (m *messages) end() error {
	wrong, err := m.stream.end()
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d messages were lost, doubled or reordered", wrong)
	}
	closeDroppers(m.drops)
	m.pair.close()
	return err
}

// addresses are those of the two ends, where TCP is to speak.
var addresses = [2]netip.Addr{netip.MustParseAddr("10.77.0.1"), netip.MustParseAddr("10.77.0.2")}

// openBed makes a cable without offloads, so that a frame lost is one packet and not up to 64 KiB
// of them, and gives its ends addresses.
func openBed() (*bed.Bed, error) {
	b, err := bed.New(bed.Options{MTU: 1500})
	if err != nil {
		return nil, err
	}
	for end := range 2 {
		err := errors.Join(
			b.Do(end, func() error { return station.WithoutOffloads(b.Name(end)) }),
			b.Namespace(end).SetAddress(b.Name(end), addresses[end]),
			b.Namespace(end).SetCongestion(b.Name(end), addresses[end], "cubic"))
		if err != nil {
			b.Close()
			return nil, err
		}
	}
	return b, nil
}
