// SPDX-License-Identifier: Apache-2.0

//go:build linux

package bench

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
	"github.com/utipc/utipc/test/bench/bare"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/sheet"
	"github.com/utipc/utipc/test/bench/tipc"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// Rounds of a benchmark whose figures are ratios: in each, all that is compared is
// measured one after the other, and the ratio of a round is that of neighbours.
const (
	rounds   = 15
	roundFor = 60 * time.Millisecond
)

// A ratioBed makes the two ends of a cable.
type ratioBed struct {
	name string
	open func(b *testing.B, mtu int) (x, y netdev.Device)
}

func cable(c *xdp.Config) func(b *testing.B, mtu int) (x, y netdev.Device) {
	return func(b *testing.B, mtu int) (x, y netdev.Device) {
		netns.Require(b)
		p, q := netns.New(b), netns.New(b)
		netns.Veth(b, p, q, "left", "right", mtu)
		open := func(ns *netns.NS, name string) (d netdev.Device) {
			ns.Do(func() {
				var err error
				if d, err = xdp.Open(name, c); err != nil {
					b.Skip(err)
				}
			})
			return d
		}
		return open(p, "left"), open(q, "right")
	}
}

var ratioBeds = []ratioBed{
	{"hub", func(b *testing.B, mtu int) (x, y netdev.Device) {
		h := hub.New(hub.Config{MTU: mtu})
		var ends [2]netdev.Device
		for i := range ends {
			p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, byte(i + 1)})
			if err != nil {
				b.Fatal(err)
			}
			ends[i] = p
		}
		return ends[0], ends[1]
	}},
	{"packet", cable(&xdp.Config{Driver: xdp.AFPacket})},
	{"xdp", cable(&xdp.Config{Driver: xdp.AFXDP})},
}

// A contender is a load that is measured beside others.
type contender struct {
	name string
	ends [2]load.Load
	size int // of what it sends, if not the job's
}

func bareContender(b *testing.B, bed ratioBed, mtu int) contender {
	x, y := bed.open(b, mtu)
	return contend(b, "bare", func(end int, peer string) (load.Load, error) {
		if end == 1 {
			return bare.Open(y, load.Info{}, frame.MAC{})
		}
		return bare.Open(x, load.Info{}, y.Addr())
	})
}

func tipcContender(b *testing.B, bed ratioBed, mtu int, name string, c tipc.Config) contender {
	x, y := bed.open(b, mtu)
	return contend(b, name, func(end int, peer string) (load.Load, error) {
		c := c
		c.End, c.Wait, c.Dev = end, stack.Spin, []netdev.Device{x, y}[end]
		return tipc.Open(context.Background(), c, peer)
	})
}

func contend(b *testing.B, name string, open func(end int, peer string) (load.Load, error)) contender {
	c := contender{name: name}
	peer := ""
	for _, end := range []int{1, 0} {
		l, err := open(end, peer)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { l.Close() })
		c.ends[end], peer = l, l.Info().Socket
	}
	return c
}

// run measures a contender once: the median round trip in ns, or bits a second.
func (c *contender) run(b *testing.B, j load.Job, oneWay bool) float64 {
	if c.size > 0 {
		j.Size = c.size
	}
	kinds := [2]load.Kind{load.Ping, load.Pong}
	measures := 0
	if oneWay {
		kinds, measures = [2]load.Kind{load.Send, load.Receive}, 1
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		j := j
		j.Kind = kinds[1-measures]
		_, err := c.ends[1-measures].Run(ctx, j)
		served <- err
	}()
	j.Kind = kinds[measures]
	r, err := c.ends[measures].Run(context.Background(), j)
	stop()
	if e := <-served; err != nil || e != nil {
		b.Fatalf("%s: %v, %v", c.name, err, e)
	}
	if oneWay {
		return r.BitRate()
	}
	return float64(r.P50)
}

// compare measures all in rounds and reports each beside the first.
func compare(b *testing.B, all []contender, j load.Job, oneWay bool) {
	figures := make([][]float64, len(all))
	ratios := make([][]float64, len(all))
	j.For = roundFor
	for b.Loop() {
		for range rounds {
			j.Round++
			for i := range all {
				v := all[i].run(b, j, oneWay)
				figures[i] = append(figures[i], v)
				if first := figures[0]; v > 0 && first[len(first)-1] > 0 {
					ratios[i] = append(ratios[i], v/first[len(first)-1])
				}
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	unit, scale := "us", 1e-3
	if oneWay {
		unit, scale = "Gbit/s", 1e-9
	}
	for i := range all {
		b.ReportMetric(sheet.Median(figures[i])*scale, all[i].name+"-"+unit)
		if i > 0 {
			slices.Sort(ratios[i])
			b.ReportMetric(sheet.Median(ratios[i]), all[i].name+"/"+all[0].name)
		}
	}
}

// BenchmarkCall is round trips of 64 bytes, spinning: bare frames, two sockets that
// write and read, and a call that an active port answers.
func BenchmarkCall(b *testing.B) {
	for _, bed := range ratioBeds {
		b.Run(bed.name, func(b *testing.B) {
			all := []contender{
				bareContender(b, bed, 1500),
				tipcContender(b, bed, 1500, "rdm", tipc.Config{}),
				tipcContender(b, bed, 1500, "call", tipc.Config{Call: true}),
			}
			compare(b, all, load.Job{Size: 64}, false)
		})
	}
}

// BenchmarkBuffers is messages of 64000 bytes one way, spinning: bare frames of the MTU,
// sockets that copy, and sockets that write in place and read without a copy.
func BenchmarkBuffers(b *testing.B) {
	for _, bed := range ratioBeds {
		for _, mtu := range []int{9000, 65000} {
			if bed.name == "xdp" && mtu > 9000 {
				continue // AF_XDP takes no such frames
			}
			b.Run(fmt.Sprintf("%s/%d", bed.name, mtu), func(b *testing.B) {
				all := []contender{
					bareContender(b, bed, mtu),
					tipcContender(b, bed, mtu, "rdm", tipc.Config{}),
					tipcContender(b, bed, mtu, "buffers", tipc.Config{Buffers: true}),
				}
				all[0].size = min(64000, mtu)
				compare(b, all, load.Job{Size: 64000}, true)
			})
		}
	}
}
