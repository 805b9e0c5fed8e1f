// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/flowctl"
)

// A Link is how a link to another node stands, and what it has done.
type Link struct {
	Peer      NodeAddr
	Identity  Identity
	Bearer    string
	Name      string // the peer's interface is "unknown" until it told
	Up        bool
	Active    bool // it carries messages; one that is up and does not stands by
	MTU       int  // bytes
	Tolerance time.Duration
	Priority  uint8
	Senders   int           // writes that wait for it
	Ended     flowctl.Cause // why it went down last
	Impaired  string        // what the network has not done for it for 10 s; empty: nothing. See docs/reference/daemon.md
	flowctl.Statistics
	Device Carried // by its bearer, for all links there
}

// State is ACTIVE, STANDBY or, of one that is down, DEFUNCT.
func (l *Link) State() string {
	switch {
	case l.Active:
		return "ACTIVE"
	case l.Up:
		return "STANDBY"
	}
	return "DEFUNCT"
}

// RetransmitRatio is the share of packets sent that were repetitions, 0 to 1.
func (l *Link) RetransmitRatio() float64 {
	return ratio(l.Retransmits, l.SentPackets+l.Retransmits)
}

// String returns the link's statistics as "tipc link statistics show" prints them, and
// below what the kernel does not know.
func (l *Link) String() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("Link <%s>", l.Name)
	p("  %s  MTU:%d  Priority:%d  Tolerance:%d ms  Window:%d packets", l.State(), l.MTU, l.Priority, l.Tolerance.Milliseconds(), l.Window)
	p("  RX packets:%d fragments:%d/%d bundles:%d/%d", l.RecvPackets, l.RecvFragments, l.RecvFragmented, l.RecvBundles, l.RecvBundled)
	p("  TX packets:%d fragments:%d/%d bundles:%d/%d", l.SentPackets, l.SentFragments, l.SentFragmented, l.SentBundles, l.SentBundled)
	samples := l.LengthSamples()
	p("  TX profile sample:%d packets average:%d octets", samples, mean(l.LengthSum, samples))
	b.WriteString("  ")
	for i, to := range []int{64, 256, 1024, 4096, 16384, 32768, 66000} {
		if i > 0 {
			b.WriteByte(' ')
		} else {
			b.WriteByte('0')
		}
		fmt.Fprintf(&b, "-%d:%d%%", to, Percent(l.Lengths[i], samples))
	}
	b.WriteByte('\n')
	p("  RX states:%d probes:%d naks:%d defs:%d dups:%d", l.RecvStates, l.RecvProbes, l.RecvNacks, l.Deferred, l.Duplicates)
	p("  TX states:%d probes:%d naks:%d acks:%d retrans:%d", l.SentStates, l.SentProbes, l.SentNacks, l.SentAcks, l.Retransmits)
	p("  Congestion link:%d  Send queue max:%d avg:%d", l.Congested, l.QueueMax, mean(l.QueueSum, l.QueueSamples))
	p("  Window now:%d of %d to %d  RTT:%v  unacknowledged:%d waiting:%d senders:%d", l.Window, l.MinWindow, l.MaxWindow,
		l.RTT.Round(time.Microsecond), l.Unacked, l.Backlog, l.Senders)
	last := l.Ended.String()
	if l.Ended == flowctl.NoCause {
		last = "none"
	}
	p("  Blocked for:%v  retransmitted:%.2f%%  resets:%d last:%s", l.Blocked.Round(time.Microsecond), 100*l.RetransmitRatio(), l.Resets, last)
	if l.Impaired != "" {
		p("  Impaired: %s", l.Impaired)
	}
	p("  Device %s frames in:%d out:%d  dropped in:%d out:%d", l.Bearer, l.Device.FramesIn, l.Device.FramesOut, l.Device.DropsIn, l.Device.DropsOut)
	return b.String()
}

// Percent is part of whole in percent, rounded as tipc(8) does; of nothing it is 0.
// Source: docs/spec/10-management.md §3.
func Percent(part, whole uint64) uint64 {
	if whole == 0 {
		return 0
	}
	return (part*100 + whole/2) / whole
}

func ratio(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func mean(sum, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	return sum / n
}
