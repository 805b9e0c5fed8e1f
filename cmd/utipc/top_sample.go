// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A topSample is how a node stands at a moment.
type topSample struct {
	at      time.Time
	node    stack.NodeAddr
	stats   admin.Stats
	links   []admin.Link
	sockets []admin.Socket
	waits   []stack.Wait
}

func takeSample(ctx context.Context, n *stack.Node) (topSample, error) {
	stats, err1 := n.Admin().Stats(ctx)
	links, err2 := n.Admin().Links(ctx)
	sockets, err3 := n.Admin().Sockets(ctx)
	waits, err4 := n.Waits(ctx)
	return topSample{time.Now(), n.Addr(), stats, links, sockets, waits}, errors.Join(err1, err2, err3, err4)
}

// A topView is a picture: what happened between two samples. Rates are per second.
type topView struct {
	Time    time.Time `json:"time"`
	Node    string    `json:"node"`
	Seconds float64   `json:"seconds"` // between the samples

	FramesIn      float64 `json:"frames_in_per_second"`
	FramesOut     float64 `json:"frames_out_per_second"`
	MessagesIn    float64 `json:"messages_in_per_second"`
	MessagesOut   float64 `json:"messages_out_per_second"`
	MessagesLocal float64 `json:"messages_local_per_second"`
	ChunksFree    int     `json:"chunks_free"`
	ChunksTotal   int     `json:"chunks_total"`
	Kept          int     `json:"kept_bytes"`
	Dropped       string  `json:"dropped"` // since the node began, by reason

	Links   []topLink   `json:"links"`
	Sockets []topSocket `json:"sockets"`
	Waits   []topWait   `json:"waits"`
}

// A topLink is a link's row.
type topLink struct {
	Peer     string  `json:"peer"`
	Bearer   string  `json:"bearer"`
	State    string  `json:"state"` // ACTIVE, STANDBY or DEFUNCT
	In       float64 `json:"packets_in_per_second"`
	Out      float64 `json:"packets_out_per_second"`
	Repeated float64 `json:"retransmitted_percent"` // of the packets sent
	Nacks    float64 `json:"naks_in_per_second"`
	Unacked  int     `json:"unacknowledged_packets"`
	Window   int     `json:"window_packets"`
	Backlog  int     `json:"waiting_packets"`
	Writers  int     `json:"waiting_writes"`
	RTT      float64 `json:"rtt_us"` // 0: unknown
	Resets   uint64  `json:"resets"` // ever
	Ended    string  `json:"last_reset,omitempty"`
}

// A topSocket is a socket's row.
type topSocket struct {
	Socket   string  `json:"socket"`
	Kind     string  `json:"kind"`
	Name     string  `json:"name,omitempty"` // what it is bound to, or its peer
	In       float64 `json:"messages_in_per_second"`
	Out      float64 `json:"messages_out_per_second"`
	BytesIn  float64 `json:"bytes_in_per_second"`
	BytesOut float64 `json:"bytes_out_per_second"`
	Queued   int     `json:"queued_messages"`
	Bytes    int     `json:"queued_bytes"`
	Lost     float64 `json:"lost_per_second"` // of others' messages for want of room, of its own that came back
	Blocked  float64 `json:"blocked_percent"` // of the time, by the calls that waited
}

// A topWait is a write that waits.
type topWait struct {
	Socket  string  `json:"socket"`
	To      string  `json:"to"`
	Bytes   int     `json:"bytes"`
	Seconds float64 `json:"seconds"`
	Reason  string  `json:"reason"`
}

// since makes the view of the time between an earlier sample and s.
func (s topSample) since(was topSample) topView {
	sec := max(s.at.Sub(was.at).Seconds(), 1e-6)
	rate := func(now, before uint64) float64 { return float64(grown(now, before)) / sec }
	v := topView{
		Time: s.at, Node: s.node.String(), Seconds: sec,
		FramesIn: rate(s.stats.FramesIn, was.stats.FramesIn), FramesOut: rate(s.stats.FramesOut, was.stats.FramesOut),
		MessagesIn: rate(s.stats.MessagesIn, was.stats.MessagesIn), MessagesOut: rate(s.stats.MessagesOut, was.stats.MessagesOut),
		MessagesLocal: rate(s.stats.MessagesLocal, was.stats.MessagesLocal),
		ChunksFree:    s.stats.ChunksFree, ChunksTotal: s.stats.ChunksTotal, Kept: s.stats.Kept, Dropped: s.stats.Drops.String(),
		Links: []topLink{}, Sockets: []topSocket{}, Waits: []topWait{},
	}
	type linkKey struct {
		peer   stack.NodeAddr
		bearer string
	}
	links := map[linkKey]admin.Link{}
	for _, l := range was.links {
		links[linkKey{l.Peer, l.Bearer}] = l
	}
	for _, l := range s.links {
		b := links[linkKey{l.Peer, l.Bearer}] // of a new one all is new
		sent, again := grown(l.SentPackets, b.SentPackets), grown(l.Retransmits, b.Retransmits)
		row := topLink{
			Peer: l.Peer.String(), Bearer: printable.Prefix(l.Bearer, longestText), State: l.State(),
			In: rate(l.RecvPackets, b.RecvPackets), Out: float64(sent) / sec, Nacks: rate(l.RecvNacks, b.RecvNacks),
			Unacked: l.Unacked, Window: l.Window, Backlog: l.Backlog, Writers: l.Senders,
			RTT: float64(l.RTT) / float64(time.Microsecond), Resets: l.Resets,
		}
		if again > 0 {
			row.Repeated = 100 * float64(again) / float64(sent+again)
		}
		if l.Resets > 0 {
			row.Ended = l.Ended.String()
		}
		v.Links = append(v.Links, row)
	}
	waiting := map[uint32]time.Duration{} // by socket: how long its writes have waited, of this time
	for _, w := range s.waits {
		waiting[w.Socket.Port] += min(s.at.Sub(w.Since), s.at.Sub(was.at))
	}
	sockets := map[uint32]admin.Socket{}
	for _, k := range was.sockets {
		sockets[k.Addr.Port] = k
	}
	for _, k := range s.sockets {
		if k.Inside {
			continue
		}
		b := sockets[k.Addr.Port]
		row := topSocket{
			Socket: k.Addr.String(), Kind: k.Kind.String(), Name: socketName(k),
			In: rate(k.MessagesIn, b.MessagesIn), Out: rate(k.MessagesOut, b.MessagesOut),
			BytesIn: rate(k.BytesIn, b.BytesIn), BytesOut: rate(k.BytesOut, b.BytesOut), Queued: k.Queued, Bytes: k.Bytes,
			Lost: rate(k.CameBack+k.Returned+k.Dropped, b.CameBack+b.Returned+b.Dropped),
		}
		row.Blocked = 100 * (max(0, k.BlockedFor-b.BlockedFor) + waiting[k.Addr.Port]).Seconds() / sec
		v.Sockets = append(v.Sockets, row)
	}
	for i := range s.waits {
		w := &s.waits[i]
		row := topWait{Socket: w.Socket.String(), Bytes: w.Bytes, Seconds: s.at.Sub(w.Since).Seconds(), Reason: printable.Prefix(w.Reason(), longestText)}
		if w.Peer.Port != 0 {
			row.To = w.Peer.String() // of a connection, or a member
		} else if w.To != nil {
			row.To = w.To.String()
		}
		v.Waits = append(v.Waits, row)
	}
	return v
}

// grown is what a counter has gained; one that is smaller than it was began anew.
func grown(now, before uint64) uint64 {
	if now < before {
		return now
	}
	return now - before
}

// socketName says in short who a socket is: what it is bound to, or its peer.
func socketName(s admin.Socket) string {
	var parts []string
	for i, b := range s.Bindings {
		if i == 2 {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, rangeText(b.Range))
	}
	if s.Peer.Port != 0 {
		parts = append(parts, "↔ "+s.Peer.String())
	}
	if len(parts) == 0 && s.Service.Type != 0 {
		parts = append(parts, s.Service.String())
	}
	return strings.Join(parts, " ")
}

// rangeText is a range, in the form of a service where it is one.
func rangeText(r stack.Range) string {
	if r.Lower == r.Upper {
		return stack.Service{Type: r.Type, Instance: r.Lower}.String()
	}
	return r.String()
}

// sort orders the rows; those that are equal stay by name.
func (v *topView) sort(by string) {
	switch by {
	case "rate":
		sortDown(v.Links, func(l topLink) float64 { return l.In + l.Out })
		sortDown(v.Sockets, func(s topSocket) float64 { return s.In + s.Out })
	case "loss":
		sortDown(v.Links, func(l topLink) float64 { return l.Repeated + l.Nacks })
		sortDown(v.Sockets, func(s topSocket) float64 { return s.Lost })
	case "wait":
		sortDown(v.Links, func(l topLink) float64 { return float64(l.Unacked + l.Backlog) })
		sortDown(v.Sockets, func(s topSocket) float64 { return float64(s.Queued) + s.Blocked })
	}
}

func sortDown[T any](rows []T, by func(T) float64) {
	slices.SortStableFunc(rows, func(a, b T) int { return cmp.Compare(by(b), by(a)) })
}
