// SPDX-License-Identifier: Apache-2.0

package lint

import "github.com/utipc/utipc/frame"

// returned holds a message that comes back to the rules of 01 §4.1.
func (l *linter) returned(m frame.Message, code frame.ErrorCode) {
	l.addIf(code > frame.ConnShutdown, "error-code", "w1 28:25", "%d, want 0 to 5", code)
	l.addIf(code == frame.NoNode, "error-no-node", "w1 28:25", "made by a node for its own sockets only")
	l.addIf(code != frame.OK && len(m.Data()) > frame.MaxReturned, "error-data", "w0 16:0", "%d bytes come back, want at most %d", len(m.Data()), frame.MaxReturned)
}

// noPort holds where a port has to be.
func (l *linter) port(m frame.Message, word int, what string) {
	l.addIf(m.Word(word) == 0, "port", []string{4: "w4", 5: "w5"}[word], "no %s", what)
}

// payload holds a payload message to the rules of its kind.
// Complex: a list of rules, each a condition of its own.
//
//gocyclo:ignore
func (l *linter) payload(m frame.Message, c context) {
	p := frame.Payload{Message: m}
	t, code := p.Type(), p.Error()
	mcast := t == frame.McastMsg || t == frame.GroupBcastMsg || t == frame.GroupMcastMsg
	dummy := t == frame.McastMsg && p.Syn() && code != frame.OK // separates broadcast from replicast

	if c != inFragment {
		l.returned(m, code)
	}
	l.addIf(code != frame.OK && p.DestDroppable() && !dummy, "error-droppable", "w0 19", "a droppable message comes back")
	l.addIf(dummy && (code != frame.NoPort || len(p.Data()) != 0), "syn-dummy", "w1 28:25", "error %v, %d bytes, want no port and none", code, len(p.Data()))

	l.addIf(p.Reroute() > 1, "reroute", "w1 24:21", "%d, want at most 1", p.Reroute())
	l.addIf(p.Reroute() != 0 && t != frame.NamedMsg, "reroute", "w1 24:21", "only named messages are looked up again")

	switch s := p.Scope(); t {
	case frame.NamedMsg:
		l.addIf(s != frame.ClusterScope && s != frame.NodeScope, "scope", "w1 20:19", "%v, want cluster or node", s)
	case frame.McastMsg:
		l.addIf(s != frame.ClusterScope, "scope", "w1 20:19", "%v, want cluster", s)
	case frame.GroupBcastMsg, frame.GroupMcastMsg, frame.GroupUcastMsg:
		l.addIf(s != frame.ClusterScope && s != frame.NodeScope, "scope", "w1 20:19", "%v, want the group's", s)
	default:
		l.addIf(s != frame.NoScope, "scope", "w1 20:19", "%v, want none", s)
	}
	l.addIf(p.Syn() && t != frame.NamedMsg && t != frame.DirectMsg && t != frame.McastMsg, "syn", "w0 17", "%v asks for no connection", t)
	l.addIf(p.Kind() > frame.MessageKind, "conn-kind", "w1 18:17", "%d, want 0 to 2", p.Kind())

	if mcast && c != inFragment {
		l.addIf(p.NonSeq() && p.SrcDroppable() && c == onWire, "rcast", "w0 18", "a broadcast marked as replicast")
		l.addIf(!p.NonSeq() && !p.SrcDroppable() && c == onWire && code == frame.OK, "rcast", "w0 18", "a replicast not marked")
	}
	if code == frame.OK { // what comes back has its ports swapped
		l.port(m, 4, "originating port")
		if mcast {
			l.addIf(!p.NonSeq() && p.DestPort() != 0, "mcast-port", "w5", "port %d, want 0", p.DestPort())
		} else if t != frame.NamedMsg || p.Scope() != frame.NodeScope { // a lookup node has to find it
			l.port(m, 5, "destination port")
		}
	}
	if r, ok := p.Range(); ok {
		l.addIf(r.Lower > r.Upper, "range", "w9", "%v", r)
	}
	l.addIf(t == frame.ConnMsg && m.HeaderLen() == frame.BasicLen && code == frame.OK, "conn-header", "w0 24:21", "32 bytes and not returned, want 24")
	if t == frame.ConnMsg && m.HeaderLen() == frame.ShortLen && code != frame.OK {
		l.addIf(len(p.Data()) > 0, "conn-end", "data", "%d bytes with the end of a connection; what comes back has a header of 32", len(p.Data()))
		l.addIf(m.User() != frame.UserCritical, "conn-end", "w0 28:25", "%v, want critical", m.User())
		l.addIf(code != frame.NoPort && code != frame.ConnShutdown, "conn-end", "w1 28:25", "%v ends no connection", code)
	}

	if p.IsGroup() {
		l.groupData(p, c)
	}
}

func (l *linter) groupData(p frame.Payload, c context) {
	group, instance, _ := p.Group()
	_, ack, _ := p.GroupSeq()
	l.addIf(!p.DestDroppable(), "group-droppable", "w0 19", "not droppable")
	l.addIf(group < 64, "group-id", "w8", "%d is a reserved type", group)
	l.addIf(p.Type() == frame.GroupBcastMsg && instance != 0, "group-instance", "w9", "a broadcast for instance %d", instance)
	l.addIf(ack && p.Type() == frame.GroupUcastMsg, "group-ucast-ack", "w10 0", "a unicast asks for acknowledgement")
	l.addIf(ack && p.NonSeq() && c == onWire, "group-ack", "w10 0", "a broadcast asks for acknowledgement, want a replicast")
}

func (l *linter) conn(m frame.Message) {
	c := frame.Conn{Message: m}
	f := c.Fields()
	l.returned(m, f.Error)
	l.addIf(len(m.Data()) != 0, "no-data", "+40", "%d bytes of data", len(m.Data()))
	if f.Error == frame.OK {
		l.port(m, 4, "originating port")
		l.port(m, 5, "destination port")
	}
	l.addIf(f.Type == frame.ConnAck && f.Error == frame.OK && f.Window != 0 && f.Window < 65, "conn-window", "w9 15:0", "%d blocks hold no longest message, want 65 or more", f.Window)
}

func (l *linter) group(m frame.Message) {
	l.addIf(!flag(m, 0, 19), "group-droppable", "w0 19", "not droppable")
	l.addIf(len(m.Data()) != 0, "no-data", "+40", "%d bytes of data", len(m.Data()))
	l.port(m, 4, "originating port")
	l.port(m, 5, "destination port")
}
