// SPDX-License-Identifier: Apache-2.0

package seal

import "github.com/utipc/utipc/frame"

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=Kind -linecomment

// A Kind is what the choice of a key asks of a packet.
type Kind uint8

const (
	Other        Kind = iota // other
	Discovery                // discovery
	LinkState                // state
	LinkReset                // reset
	LinkActivate             // activate
	KeyDistr                 // key distribution
)

// KindOf tells the kind of a packet of at least frame.ShortLen bytes.
func KindOf(plain []byte) Kind {
	switch typ := plain[4] >> 5; frame.User(plain[0] >> 1 & 0xf) {
	case frame.UserDiscovery:
		return Discovery
	case frame.UserLink:
		return LinkState + Kind(min(typ, 2))
	case frame.UserCrypto:
		if typ == 0 {
			return KeyDistr
		}
	}
	return Other
}

// probes reports whether a pending key is tried with packets of this kind, by a
// copy of each.
func (k Kind) probes() bool { return k >= Discovery && k <= LinkActivate }

// masters reports whether packets of this kind go under the master key to those
// who have no other. An ACTIVATE belongs to these too, though kernels leave it out:
// a node that has just started could not open it, and the link would wait for its
// word that it has no key.
func (k Kind) masters() bool {
	return k == Discovery || k == LinkReset || k == LinkActivate || k == KeyDistr
}
