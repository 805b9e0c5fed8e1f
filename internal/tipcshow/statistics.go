// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"fmt"
	"io"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/stack/admin"
)

// Statistics writes what "tipc link statistics show" prints of a link, lines of our own
// below, and an empty line.
func Statistics(w io.Writer, l *LinkRow) {
	l.Link.Name = l.Name
	fmt.Fprintf(w, "%s\n", l.Link.String())
}

// StatisticsJSON is the same as JSON, our own fields as a member "utipc".
func StatisticsJSON(l *LinkRow) Object {
	samples := l.LengthSamples()
	o := Object{
		{"link", l.Name},
		{"state", Array{l.State()}},
		{"mtu", l.MTU},
		{"priority", l.Priority},
		{"tolerance", l.Tolerance.Milliseconds()},
		{"window", l.Window},
	}
	o = append(o, packets(&l.Counters, l.RecvPackets)...)
	o = append(o, Field{"tx profile sample", samples}, Field{"packets average", mean(l.LengthSum, samples)})
	for i, name := range []string{"0-64", "-256", "-1024", "-4096", "-16384", "-32768", "-66000"} {
		o = append(o, Field{name, admin.Percent(l.Lengths[i], samples)})
	}
	return append(o,
		Field{"rx states", Object{{"rx states", l.RecvStates}, {"probes", l.RecvProbes}, {"naks", l.RecvNacks}, {"defs", l.Deferred}, {"dups", l.Duplicates}}},
		Field{"tx states", Object{{"tx states", l.SentStates}, {"probes", l.SentProbes}, {"naks", l.SentNacks}, {"acks", l.SentAcks}, {"retrans", l.Retransmits}}},
		Field{"congestion link", l.Congested}, Field{"send queue max", l.QueueMax}, Field{"avg", mean(l.QueueSum, l.QueueSamples)},
		Field{"utipc", Object{
			{"up", l.Up},
			{"window min", l.MinWindow},
			{"window max", l.MaxWindow},
			{"rtt us", micros(l.RTT)},
			{"unacknowledged", l.Unacked},
			{"waiting", l.Backlog},
			{"senders", l.Senders},
			{"blocked us", micros(l.Blocked)},
			{"resets", l.Resets},
			{"last reset", lastReset(l.Ended)},
			{"impaired", l.Impaired},
			{"bearer", l.Bearer},
			{"frames in", l.Device.FramesIn},
			{"frames out", l.Device.FramesOut},
			{"drops in", l.Device.DropsIn},
			{"drops out", l.Device.DropsOut},
		}})
}

// BroadcastStatistics writes what "tipc link statistics show" prints of the broadcast
// link, lines of our own below, and an empty line.
func BroadcastStatistics(w io.Writer, l admin.BroadcastLink) { fmt.Fprintf(w, "%s\n", l.String()) }

// BroadcastStatisticsJSON is the same as JSON, our own fields as a member "utipc".
func BroadcastStatisticsJSON(l admin.BroadcastLink) Object {
	return append(castJSON(BroadcastLink, l.Window, &l.Counters, l.Received, l.Deferred, l.Duplicates, mean(l.QueueSum, l.QueueSamples), l.QueueMax),
		Field{"utipc", Object{
			{"peers", l.Peers}, {"mtu", l.MTU}, {"rtt us", micros(l.RTT)}, {"unacknowledged", l.Unacked}, {"waiting", l.Backlog},
		}})
}

// A CastRow is what came on the broadcast link of another node.
type CastRow struct {
	Name                           string
	Window                         int // packets
	Received, Deferred, Duplicates uint64
}

// ReceiveStatistics writes what "tipc link statistics show" prints of the broadcast link
// of another node.
func ReceiveStatistics(w io.Writer, l *CastRow) {
	fmt.Fprintf(w, "Link <%s>\n  Window:%d packets\n  RX packets:%d fragments:0/0 bundles:0/0\n  TX packets:0 fragments:0/0 bundles:0/0\n"+
		"  RX naks:0 defs:%d dups:%d\n  TX naks:0 acks:0 retrans:0\n  Congestion link:0  Send queue max:0 avg:0\n\n",
		l.Name, l.Window, l.Received, l.Deferred, l.Duplicates)
}

// ReceiveStatisticsJSON is the same as JSON.
func ReceiveStatisticsJSON(l *CastRow) Object {
	return castJSON(l.Name, l.Window, &flowctl.Counters{}, l.Received, l.Deferred, l.Duplicates, 0, 0)
}

func castJSON(name string, window int, c *flowctl.Counters, received, deferred, duplicates, mean, most uint64) Object {
	o := Object{{"link", name}, {"window", window}}
	o = append(o, packets(c, received)...)
	return append(o,
		Field{"rx naks", Object{{"rx naks", c.RecvNacks}, {"defs", deferred}, {"dups", duplicates}}},
		Field{"tx naks", Object{{"tx naks", c.SentNacks}, {"acks", c.SentAcks}, {"retrans", c.Retransmits}}},
		Field{"congestion link", c.Congested}, Field{"send queue max", most}, Field{"avg", mean})
}

func packets(c *flowctl.Counters, received uint64) Object {
	return Object{
		{"rx packets", Object{
			{"rx packets", received},
			{"fragments", c.RecvFragments},
			{"fragmented", c.RecvFragmented},
			{"bundles", c.RecvBundles},
			{"bundled", c.RecvBundled},
		}},
		{"tx packets", Object{
			{"tx packets", c.SentPackets},
			{"fragments", c.SentFragments},
			{"fragmented", c.SentFragmented},
			{"bundles", c.SentBundles},
			{"bundled", c.SentBundled},
		}},
	}
}

func lastReset(c flowctl.Cause) string {
	if c == flowctl.NoCause {
		return "none"
	}
	return c.String()
}

func micros(d time.Duration) int64 { return d.Microseconds() }

func mean(sum, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return sum / n
}
