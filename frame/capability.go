// SPDX-License-Identifier: Apache-2.0

package frame

import "strings"

// Capabilities are what a node says it can do, 13 bits in its discovery
// messages. Source: docs/spec/01-wire.md §5.1.
type Capabilities uint16

const (
	CapSynBit         Capabilities = 1 << iota // connection requests carry the SYN bit
	CapBcastSynch                              // the broadcast start number comes in a message of its own
	CapBcastStateNack                          // broadcast gaps travel in STATE messages
	CapBlockFlowctl                            // connections count 1 KiB blocks
	CapBcastRcast                              // replicated unicast may stand in for broadcast
	CapNodeID128                               // discovery carries a 128-bit identity
	CapLinkProtoSeqno                          // STATE messages have their own sequence
	CapMcastRbctl                              // a marker separates broadcast and replicast
	CapGapAckBlock                             // STATE carries gap and ack blocks
	CapTunnelEnhanced                          // one-message SYNCH, fragmented FAILOVER
	CapNagle                                   // stream messages may ask for an acknowledgement
	CapNamedBcast                              // name updates come numbered over the broadcast link

	capMask Capabilities = 1<<13 - 1
)

var capNames = [...]string{
	"syn", "bcast-synch", "bcast-state-nack", "block-flowctl",
	"bcast-rcast", "id128", "link-seqno", "mcast-rbctl", "gap-ack", "tunnel-enhanced",
	"nagle", "named-bcast", "bit12",
}

// Has reports whether all of want are in c.
func (c Capabilities) Has(want Capabilities) bool { return c&want == want }

// String returns the names, separated by commas.
func (c Capabilities) String() string {
	var s []string
	for i, n := range capNames {
		if c&(1<<i) != 0 {
			s = append(s, n)
		}
	}
	return strings.Join(s, ",")
}
