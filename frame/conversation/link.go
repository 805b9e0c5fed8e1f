// SPDX-License-Identifier: Apache-2.0

package conversation

import (
	"bytes"
	"time"

	"github.com/utipc/utipc/frame"
)

// An End is one of two ends of a link.
type End struct {
	Node      frame.NodeAddr
	Station   Station
	Interface string // as RESET and ACTIVATE told it, or empty
}

// String returns the node and the interface, "1001001:eth0", or the node alone.
func (e End) String() string {
	if e.Interface == "" {
		return e.Node.String()
	}
	return e.Node.String() + ":" + e.Interface
}

// A Link is two nodes speaking over two stations. Index 0 is the end with the lower
// address; Sent[0] is what that end sent.
type Link struct {
	Ends  [2]End
	Sent  [2]Counters
	First time.Duration // of its packets
	Last  time.Duration

	lines [2]line
}

// String returns the link's name: "1001001:eth0-1001002:eth0".
func (l *Link) String() string { return l.Ends[0].String() + "-" + l.Ends[1].String() }

// A Sender is what one node has sent to all, over one station.
type Sender struct {
	End  End
	Sent Counters

	line line
}

// A line is one direction of a link, or a sender's broadcasts.
type line struct {
	sequence
	probed   bool
	probe    time.Duration // when it was sent
	fragment fragment
}

// A fragment is the message whose pieces are on their way.
type fragment struct {
	users    []frame.User
	services []frame.Range
	sockets  []frame.SocketAddr
}

// A linkKey tells links apart.
type linkKey struct {
	nodes    [2]frame.NodeAddr
	stations [2]Station
}

func (s Station) compare(t Station) int {
	if c := bytes.Compare(s.MAC[:], t.MAC[:]); c != 0 {
		return c
	}
	return s.IP.Compare(t.IP)
}

// linkOf returns the link of a packet from a to b, and which end a is. It is nil
// beyond the limit.
func (t *Tracker) linkOf(p Packet, a, b frame.NodeAddr) (l *Link, from int) {
	k := linkKey{[2]frame.NodeAddr{a, b}, [2]Station{p.Src, p.Dst}}
	if a > b || a == b && p.Src.compare(p.Dst) > 0 {
		k.nodes[0], k.nodes[1] = b, a
		k.stations[0], k.stations[1] = p.Dst, p.Src
		from = 1
	}
	if l = t.byLink[k]; l != nil {
		return l, from
	}
	if len(t.links) >= t.limits.Links {
		t.beyond.Links++
		return nil, 0
	}
	l = &Link{First: p.Time}
	for i := range l.Ends {
		l.Ends[i] = End{Node: k.nodes[i], Station: k.stations[i]}
	}
	t.links = append(t.links, l)
	t.byLink[k] = l
	return l, from
}

// senderOf returns who broadcasts. It is nil beyond the limit.
func (t *Tracker) senderOf(p Packet, a frame.NodeAddr) *Sender {
	k := senderKey{a, p.Src}
	if s := t.bySender[k]; s != nil {
		return s
	}
	if len(t.senders) >= t.limits.Links {
		t.beyond.Links++
		return nil
	}
	s := &Sender{End: End{Node: a, Station: p.Src}}
	t.senders = append(t.senders, s)
	t.bySender[k] = s
	return s
}

type senderKey struct {
	node    frame.NodeAddr
	station Station
}
