// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A BroadcastLink is how the node's broadcast link stands, on which multicast messages
// and changes of names go to all other nodes, and what came on theirs.
type BroadcastLink struct{ engine.BroadcastStatus }

// String returns the statistics as "tipc link statistics show" prints them, and below
// what the kernel does not know.
func (l BroadcastLink) String() string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("Link <broadcast-link>")
	p("  Window:%d packets", l.Window)
	p("  RX packets:%d fragments:%d/%d bundles:%d/%d", l.Received, l.RecvFragments, l.RecvFragmented, l.RecvBundles, l.RecvBundled)
	p("  TX packets:%d fragments:%d/%d bundles:%d/%d", l.SentPackets, l.SentFragments, l.SentFragmented, l.SentBundles, l.SentBundled)
	p("  RX naks:%d defs:%d dups:%d", l.RecvNacks, l.Deferred, l.Duplicates)
	p("  TX naks:%d acks:%d retrans:%d", l.SentNacks, l.SentAcks, l.Retransmits)
	p("  Congestion link:%d  Send queue max:%d avg:%d", l.Congested, l.QueueMax, mean(l.QueueSum, l.QueueSamples))
	p("  Peers:%d  MTU:%d  RTT:%v  unacknowledged:%d waiting:%d", l.Peers, l.MTU, l.RTT.Round(time.Microsecond), l.Unacked, l.Backlog)
	return b.String()
}
