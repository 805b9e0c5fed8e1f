// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

func TestCapabilities(t *testing.T) {
	for _, c := range []struct {
		c    frame.Capabilities
		bits uint16
		want string
	}{
		{0, 0, ""},
		{frame.CapSynBit, 1, "syn"},
		{frame.CapBcastSynch, 1 << 1, "bcast-synch"},
		{frame.CapBcastStateNack, 1 << 2, "bcast-state-nack"},
		{frame.CapBlockFlowctl, 1 << 3, "block-flowctl"},
		{frame.CapBcastRcast, 1 << 4, "bcast-rcast"},
		{frame.CapNodeID128, 1 << 5, "id128"},
		{frame.CapLinkProtoSeqno, 1 << 6, "link-seqno"},
		{frame.CapMcastRbctl, 1 << 7, "mcast-rbctl"},
		{frame.CapGapAckBlock, 1 << 8, "gap-ack"},
		{frame.CapTunnelEnhanced, 1 << 9, "tunnel-enhanced"},
		{frame.CapNagle, 1 << 10, "nagle"},
		{frame.CapNamedBcast, 1 << 11, "named-bcast"},
		{1 << 12, 1 << 12, "bit12"},
		{frame.CapSynBit | frame.CapNagle, 1 | 1<<10, "syn,nagle"},
		{0xfff, 0xfff, "syn,bcast-synch,bcast-state-nack,block-flowctl,bcast-rcast,id128,link-seqno,mcast-rbctl,gap-ack,tunnel-enhanced,nagle,named-bcast"},
	} {
		if uint16(c.c) != c.bits || c.c.String() != c.want {
			t.Errorf("got %#x %q, want %#x %q", uint16(c.c), c.c, c.bits, c.want)
		}
	}
	all := frame.Capabilities(0xfff)
	if !all.Has(frame.CapNagle|frame.CapGapAckBlock) || frame.CapNagle.Has(frame.CapNagle|frame.CapGapAckBlock) || !frame.CapNagle.Has(0) {
		t.Errorf("Has: got %v %v %v, want true false true",
			all.Has(frame.CapNagle|frame.CapGapAckBlock), frame.CapNagle.Has(frame.CapNagle|frame.CapGapAckBlock), frame.CapNagle.Has(0))
	}
}

func TestNamesOfEnums(t *testing.T) {
	for _, c := range []struct {
		got  interface{ String() string }
		want string
	}{
		{netdev.Data, "data"},
		{netdev.Control, "control"},
		{frame.NoScope, "none"},
		{frame.ClusterScope, "cluster"},
		{frame.NodeScope, "node"},
		{frame.Scope(4), "Scope(4)"},
		{frame.UserLow, "low"},
		{frame.UserDiscovery, "disc"},
		{frame.User(16), "User(16)"},
		{frame.System, "system"},
		{frame.Importance(9), "Importance(9)"},
		{frame.GroupUcastMsg, "group-ucast"},
		{frame.PayloadType(8), "PayloadType(8)"},
		{frame.ConnShutdown, "connection shutdown"},
		{frame.ErrorCode(6), "ErrorCode(6)"},
		{frame.TrialFail, "trial-fail"},
		{frame.DiscoveryType(4), "DiscoveryType(4)"},
		{frame.LastFragment, "last"},
		{frame.FragmentType(3), "FragmentType(3)"},
		{frame.ConnProbeReply, "probe-reply"},
		{frame.ConnType(4), "ConnType(4)"},
	} {
		if c.got.String() != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
