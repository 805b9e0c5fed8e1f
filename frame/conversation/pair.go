// SPDX-License-Identifier: Apache-2.0

package conversation

import "github.com/utipc/utipc/frame"

// A Pair is two sockets that sent messages to each other, or one to the other.
// Index 0 is the socket of the first message.
type Pair struct {
	Sockets   [2]frame.SocketAddr
	Connected bool         // messages of a connection were among them
	Service   *frame.Range // what the connection was asked of, or nil
	Messages  [2]uint64    // sent by each
	Bytes     [2]uint64    // of their data
	Returned  [2]uint64    // that came back to each
}

// A Service is a service range, or a group, and what was sent to it by name.
type Service struct {
	Range    frame.Range
	Group    bool // Range.Type is the group; the range is the member's instance
	Messages uint64
	Bytes    uint64 // of their data
	Returned uint64
}

// A pairKey is two sockets, the lower first.
type pairKey [2]frame.SocketAddr

type serviceKey struct {
	frame.Range
	group bool
}

// pair counts a message between two sockets.
func (t *Tracker) pair(from, to frame.SocketAddr, p frame.Payload, size int) *Pair {
	k := pairKey{from, to}
	if to.Node < from.Node || to.Node == from.Node && to.Port < from.Port {
		k = pairKey{to, from}
	}
	x := t.byPair[k]
	if x == nil {
		if len(t.pairs) >= t.limits.Pairs {
			t.beyond.Pairs++
			return nil
		}
		x = &Pair{Sockets: [2]frame.SocketAddr{from, to}}
		t.pairs = append(t.pairs, x)
		t.byPair[k] = x
	}
	i := 0
	if x.Sockets[0] != from {
		i = 1
	}
	if p.Error() != frame.OK && p.Error() != frame.ConnShutdown {
		x.Returned[1-i]++
	} else {
		x.Messages[i]++
		x.Bytes[i] += uint64(size)
	}
	if p.Type() == frame.ConnMsg {
		x.Connected = true
		if x.Service == nil {
			for _, s := range [...]frame.SocketAddr{from, to} {
				if r, ok := t.asked[s]; ok {
					x.Service = &r
					delete(t.asked, s)
					break
				}
			}
		}
	}
	return x
}

// service counts a message to a name.
func (t *Tracker) service(r frame.Range, group, back bool, size int) {
	k := serviceKey{r, group}
	x := t.byService[k]
	if x == nil {
		if len(t.services) >= t.limits.Services {
			t.beyond.Services++
			return
		}
		x = &Service{Range: r, Group: group}
		t.services = append(t.services, x)
		t.byService[k] = x
	}
	if back {
		x.Returned++
		return
	}
	x.Messages++
	x.Bytes += uint64(size)
}
