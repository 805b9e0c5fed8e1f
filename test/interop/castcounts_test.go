// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"encoding/json"
	"testing"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack/engine"
)

// A castCount is what a node counts on its broadcast link, and a node of ours at its
// sockets.
type castCount struct {
	sent, repeated    int    // packets
	broadcasts        uint64 // messages; and so
	replicasts        uint64
	overloads, broken uint64 // messages without room, changes of method that did not end well
}

// castCounts asks all four.
func (f *four) castCounts(t *testing.T) (all [nodesOfFour]castCount) {
	t.Helper()
	for _, i := range kernels {
		var links []struct {
			Link string
			TX   struct {
				Packets int `json:"tx packets"`
			} `json:"tx packets"`
			Naks struct {
				Repeated int `json:"retrans"`
			} `json:"tx naks"`
		}
		if out := f.run(t, i, "tipc -j link stat show"); json.Unmarshal([]byte(out), &links) != nil || links[0].Link != "broadcast-link" {
			t.Fatalf("statistics: %s", out)
		}
		all[i] = castCount{sent: links[0].TX.Packets, repeated: links[0].Naks.Repeated}
	}
	for _, i := range us {
		n := f.members[i].(*ourMember).node
		s, l := musthave.Get(n.Admin().Stats(context.Background())), musthave.Get(n.Admin().BroadcastLink(context.Background()))
		all[i] = castCount{int(l.SentPackets), int(l.Retransmits), s.Broadcasts, s.Replicasts, s.Drops[engine.DropOverload], s.BarrierBroken}
	}
	return all
}

// castMethod checks that everybody sent as they were told.
func (f *four) castMethod(t *testing.T, how method, before [nodesOfFour]castCount) {
	t.Helper()
	for i, c := range f.castCounts(t) {
		sent := c.sent - before[i].sent
		t.Logf("%x: %d broadcast packets, %d repeated", uint32(f.members[i].addr()), sent, c.repeated-before[i].repeated)
		// Names of sockets that come and go are always broadcast.
		const forNames = 50
		if many := sent > forNames; many != (how != replicast) {
			t.Errorf("node %d sent %d broadcast packets", i, sent)
		}
		if isKernel(i) {
			continue
		}
		broadcasts, replicasts := c.broadcasts-before[i].broadcasts, c.replicasts-before[i].replicasts
		if broadcasts > 0 != (how != replicast) || replicasts > 0 != (how != broadcast) {
			t.Errorf("node %d broadcast %d messages and sent %d as copies", i, broadcasts, replicasts)
		}
		if c.overloads > before[i].overloads || c.broken > before[i].broken {
			t.Errorf("node %d: %d messages lost for want of room, %d changes of method given up", i,
				c.overloads-before[i].overloads, c.broken-before[i].broken)
		}
	}
}
