// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack/admin"
)

// putPackets tells of fragments and bundles, and behind which number of packets of all.
func putPackets(a *attributes, c *flowctl.Counters, received, sent uint64) {
	for _, x := range [...]struct {
		first  uint16
		counts [5]uint64
	}{
		{statReceived, [...]uint64{received, c.RecvFragments, c.RecvFragmented, c.RecvBundles, c.RecvBundled}},
		{statSent, [...]uint64{sent, c.SentFragments, c.SentFragmented, c.SentBundles, c.SentBundled}},
	} {
		for i, v := range x.counts {
			a.count(x.first+uint16(i), v)
		}
	}
}

// putStatistics tells what a link has done. The packets stand elsewhere: here is how many of them
// the reader is to take off.
func putStatistics(a *attributes, l *admin.Link) {
	putPackets(a, &l.Counters, 0, 0)
	samples := l.LengthSamples()
	a.count(statSamplesBase, max(samples, 1))
	a.count(statSamples, samples)
	a.count(statLengthSum, l.LengthSum)
	for i, v := range l.Lengths {
		a.count(statLengths+uint16(i), v)
	}
	for i, v := range [...]uint64{
		l.RecvStates, l.RecvProbes, l.RecvNacks, l.Deferred, l.SentStates, l.SentProbes, l.SentNacks, l.SentAcks,
		l.Retransmits, l.Duplicates, l.Congested, l.QueueMax, mean(l.QueueSum, l.QueueSamples),
	} {
		a.count(statRecvStates+uint16(i), v)
	}
}

func mean(sum, n uint64) uint64 { return sum / max(n, 1) }

// A cast is what went over a broadcast link, and came.
type cast struct {
	*flowctl.Counters
	received, deferred, duplicates, most, mean uint64
}

func (r *request) putBroadcastLink(flags uint16) error {
	l, err := r.node.Admin().BroadcastLink(r.ctx)
	if err != nil {
		return err
	}
	return r.putCast(flags, tipcshow.BroadcastLink, cast{&l.Counters, l.Received, l.Deferred, l.Duplicates, l.QueueMax, mean(l.QueueSum, l.QueueSamples)})
}

// putReception tells what came on the broadcast link of another node.
func (r *request) putReception(c *admin.BroadcastReception) error {
	return r.putCast(flagMulti, printable.Prefix(c.Name, tipcshow.MaxLinkName),
		cast{&flowctl.Counters{}, c.Received, c.Deferred, c.Duplicates, 0, 0})
}

func (r *request) putCast(flags uint16, name string, c cast) error {
	method, err := r.node.Admin().BroadcastMethod(r.ctx)
	if err != nil {
		return err
	}
	var window int
	of := control.PropertyParams{Name: tipcshow.BroadcastLink, Property: control.PropertyWindow}
	if err := r.node.Admin().Call(r.ctx, "link-property", of, &window); err != nil {
		return err
	}
	r.message(linkGet, flags, func(a *attributes) {
		a.nest(ofLink, func(a *attributes) {
			a.flag(linkUp, true)
			a.flag(linkBroadcast, true)
			a.text(linkName, name)
			a.number(linkReceived, 0)
			a.number(linkSent, 0)
			a.nest(linkProperties, func(a *attributes) {
				a.number(propertyWindow, uint32(window))
				for number, m := range methods {
					if m == method.Method {
						a.number(propertyMethod, number)
					}
				}
				if method.Method == methods[methodSelect] {
					a.number(propertyRatio, uint32(method.Ratio))
				}
			})
			a.nest(linkStatistics, func(a *attributes) {
				putPackets(a, c.Counters, c.received, c.SentPackets)
				for _, x := range [...]struct {
					typ uint16
					v   uint64
				}{
					{statRecvNacks, c.RecvNacks},
					{statDeferred, c.deferred},
					{statSentNacks, c.SentNacks},
					{statSentAcks, c.SentAcks},
					{statRetransmits, c.Retransmits},
					{statDuplicates, c.duplicates},
					{statCongested, c.Congested},
					{statQueueMost, c.most},
					{statQueueAverage, c.mean},
				} {
					a.count(x.typ, x.v)
				}
			})
		})
	})
	return nil
}
