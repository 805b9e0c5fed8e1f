// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/admin"
)

// A SocketOwner is the process that a socket of a daemon is for.
type SocketOwner struct {
	PID     int    `json:"pid"` // 0: not known
	UID     uint32 `json:"uid"`
	Program string `json:"program"` // as it calls itself
	Ended   bool   `json:"ended"`   // it has ended; others hold its connections
}

// Sockets writes what "tipc socket list" prints: each socket, and whom it is connected
// to, or its bindings, the newest first. The processes of owners, by port, have a line of
// their own.
func Sockets(w io.Writer, all []admin.Socket, owners map[uint32]SocketOwner) {
	for _, s := range all {
		fmt.Fprintf(w, "socket %d\n", s.Addr.Port)
		if o, ok := owners[s.Addr.Port]; ok {
			ended := ""
			if o.Ended {
				ended = ", ended"
			}
			fmt.Fprintf(w, "  of process %d%s: %s\n", o.PID, ended, printable.Text(o.Program))
		}
		if Connected(&s) {
			fmt.Fprintf(w, "  connected to %x:%d", uint32(s.Peer.Node), s.Peer.Port)
			if s.Service.Type != 0 {
				fmt.Fprintf(w, " via {%d,%d}", s.Service.Type, s.Service.Instance)
			}
			fmt.Fprintln(w)
			continue
		}
		for i := len(s.Bindings) - 1; i >= 0; i-- {
			b := s.Bindings[i].Range
			fmt.Fprintf(w, "  bound to {%d,%d,%d}\n", b.Type, b.Lower, b.Upper)
		}
	}
}

// SocketsJSON is the same as JSON, and beside it what each socket is and has done.
func SocketsJSON(all []admin.Socket, owners map[uint32]SocketOwner) Array {
	rows := Array{}
	for _, s := range all {
		o := Object{{"socket", s.Addr.Port}, {"network", s.Network}, {"kind", s.Kind.String()}}
		if Connected(&s) {
			c := Object{{"node", s.Peer.Node.String()}, {"port", s.Peer.Port}}
			if s.Service.Type != 0 {
				c = append(c, Field{"via", Object{{"type", s.Service.Type}, {"instance", s.Service.Instance}}})
			}
			o = append(o, Field{"connected", c})
		} else {
			bound := Array{}
			for i := len(s.Bindings) - 1; i >= 0; i-- {
				b := s.Bindings[i]
				bound = append(bound, Object{{"type", b.Range.Type}, {"lower", b.Range.Lower}, {"upper", b.Range.Upper}, {"scope", scope(b.Scope)}})
			}
			o = append(o, Field{"bound", bound})
		}
		if of, ok := owners[s.Addr.Port]; ok {
			o = append(o, Field{"pid", of.PID}, Field{"uid", of.UID}, Field{"program", of.Program}, Field{"ended", of.Ended})
		}
		rows = append(rows, append(o,
			Field{"messages_in", s.MessagesIn}, Field{"bytes_in", s.BytesIn}, Field{"messages_out", s.MessagesOut}, Field{"bytes_out", s.BytesOut},
			Field{"queued", s.Queued}, Field{"queued_bytes", s.Bytes}, Field{"dropped", s.Dropped}, Field{"returned", s.Returned},
			Field{"blocked", s.Blocked}))
	}
	return rows
}

// Connected reports whether a socket has a peer.
func Connected(s *admin.Socket) bool { return s.Kind == admin.ConnectedSocket && s.Peer.Port != 0 }

// Bound gives the node's own sockets, as the topology service, their bindings, which stand in
// the table alone.
func Bound(all []admin.Socket, names []admin.Binding) {
	for i := range all {
		s := &all[i]
		if !s.Inside || len(s.Bindings) > 0 {
			continue
		}
		for _, b := range names {
			if b.Socket.Node == s.Addr.Node && b.Socket.Port == s.Addr.Port {
				s.Bindings = append(s.Bindings, b)
			}
		}
	}
}
