// SPDX-License-Identifier: Apache-2.0

package dissect

import (
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
)

// A slot is a field in a header word: its bits from high down to low, its name,
// and how its value reads; nil show is a number, or yes and no when it is one bit.
type slot struct {
	word, high, low int
	name            string
	show            func(v uint32) string
}

func (s slot) mask() uint32 { return (1<<(s.high-s.low+1) - 1) << s.low }

func showNode(v uint32) string  { return frame.NodeAddr(v).String() }
func showHex(v uint32) string   { return fmt.Sprintf("%x", v) }
func showUser(v uint32) string  { return frame.User(v).String() }
func showError(v uint32) string { return frame.ErrorCode(v).String() }
func showScope(v uint32) string { return frame.Scope(v).String() }
func showCaps(v uint32) string  { return frame.Capabilities(v).String() }
func showMedia(v uint32) string {
	switch frame.MediaType(v) {
	case frame.MediaEthernet:
		return "ethernet"
	case frame.MediaUDP:
		return "udp"
	}
	return fmt.Sprint(v)
}

func showConnKind(v uint32) string { return frame.ConnKind(v).String() }

func showImportance(v uint32) string { return frame.Importance(v).String() }

func showLinkType(v uint32) string {
	return [...]string{"state", "reset", "activate"}[v]
}

func showSealed(v uint32) string { return describe.Sealed(frame.User(v)) }

func showBcastType(v uint32) string { return "state" }
func showKeyType(v uint32) string   { return "key" }

// showTypes has the names of the types of each user. Source:
// docs/spec/01-wire.md §3.2.
var showTypes = map[frame.User]func(v uint32) string{
	frame.UserBroadcast: showBcastType,
	frame.UserLink:      showLinkType,
	frame.UserConn:      func(v uint32) string { return frame.ConnType(v).String() },
	frame.UserGroup:     func(v uint32) string { return frame.GroupType(v).String() },
	frame.UserTunnel:    func(v uint32) string { return frame.TunnelType(v).String() },
	frame.UserName:      func(v uint32) string { return [...]string{"publish", "withdraw"}[v] },
	frame.UserFragment:  func(v uint32) string { return frame.FragmentType(v).String() },
	frame.UserDiscovery: func(v uint32) string { return frame.DiscoveryType(v).String() },
	frame.UserCrypto:    showKeyType,
}

// layout returns the fields in the header of m, which Check takes, in
// the order of the wire. Bits in none of them are reserved.
// Source: docs/spec/01-wire.md §2, §4.
// Complex: one case for each kind of message, in the order of the words on the wire, as the specification has them.
//
//gocyclo:ignore
func layout(m frame.Message) []slot {
	w := func(word int, name string, show func(uint32) string) slot { return slot{word, 31, 0, name, show} }
	high := func(word int, name string) slot { return slot{word, 31, 16, name, nil} }
	low := func(word int, name string) slot { return slot{word, 15, 0, name, nil} }
	flag := func(word, bit int, name string) slot { return slot{word, bit, bit, name, nil} }

	u := m.User()
	k := frame.LinkMessage{Message: m} // of use where u is UserLink
	l := []slot{
		{0, 31, 29, "version", nil},
		{0, 28, 25, "user", showUser},
		{0, 24, 21, "header_words", nil},
		flag(0, 20, "non_seq"),
	}
	show := showTypes[u]
	switch {
	case u.IsPayload():
		show = func(v uint32) string { return frame.PayloadType(v).String() }
		name18 := "src_droppable"
		switch frame.PayloadType(m.RawType()) {
		case frame.ConnMsg:
			name18 = "ack_required"
		case frame.McastMsg, frame.GroupBcastMsg, frame.GroupMcastMsg:
			name18 = "is_rcast"
		}
		l = append(l, flag(0, 19, "dest_droppable"), flag(0, 18, name18), flag(0, 17, "syn"))
	case u == frame.UserLink && k.IsState():
		l = append(l, flag(0, 19, "keepalive"))
	case u == frame.UserGroup:
		l = append(l, flag(0, 19, "dest_droppable"))
	case u == frame.UserConn && frame.ConnType(m.RawType()) == frame.ConnAck:
		l = append(l, flag(0, 18, "nagle_ack"))
	}
	l = append(l, slot{0, 16, 0, "size", nil})

	if u != frame.UserBundler {
		l = append(l, slot{1, 31, 29, "type", show})
	}
	switch {
	case u.IsPayload():
		l = append(l, slot{1, 28, 25, "error_code", showError}, slot{1, 24, 21, "reroute", nil}, slot{1, 20, 19, "scope", showScope})
		if p := (frame.Payload{Message: m}); p.Syn() && (p.Type() == frame.NamedMsg || p.Type() == frame.DirectMsg) {
			l = append(l, slot{1, 18, 17, "conn_kind", showConnKind})
		}
		l = append(l, low(1, "bcast_ack"))
	case u == frame.UserConn:
		l = append(l, slot{1, 28, 25, "error_code", showError}, low(1, "bcast_ack"))
	case u == frame.UserLink && k.IsState():
		l = append(l, slot{1, 28, 16, "gap", nil}, low(1, "bcast_ack"))
	case u == frame.UserLink && k.IsActivate():
		l = append(l, flag(1, 16, "dest_session_valid"), low(1, "dest_session"))
	case u == frame.UserName:
		l = append(l, flag(1, 28, "bulk"), flag(1, 27, "last_bulk"), flag(1, 26, "non_legacy"), low(1, "bcast_ack"))
	case u == frame.UserDiscovery: // bit 15 is in both
		l = append(l, slot{1, 27, 15, "capabilities", showCaps}, slot{1, 15, 0, "signature", showHex})
	default:
		l = append(l, low(1, "bcast_ack"))
	}

	switch {
	case u == frame.UserDiscovery:
		l = append(l, w(2, "dest_domain", showNode))
	case u == frame.UserBroadcast && m.NonSeq():
		l = append(l, high(2, "gap_after"), low(2, "gap_to"))
	default:
		l = append(l, high(2, "ack"), low(2, "seq"))
	}
	l = append(l, w(3, "prev_node", showNode))

	ports := func() {
		l = append(l, w(4, "orig_port", nil))
		if m.NonSeq() {
			l = append(l, w(5, "net_id", nil))
		} else {
			l = append(l, w(5, "dest_port", nil))
		}
	}
	netID := func() {
		if m.NonSeq() {
			l = append(l, w(5, "net_id", nil))
		}
	}
	nodes := func() { l = append(l, w(6, "orig_node", showNode), w(7, "dest_node", showNode)) }
	switch {
	case u.IsPayload():
		ports()
		if m.HeaderLen() < frame.BasicLen {
			break
		}
		nodes()
		group := frame.PayloadType(m.RawType()) >= frame.GroupBcastMsg
		switch {
		case m.HeaderLen() >= frame.McastLen && group:
			l = append(l, w(8, "group", nil), w(9, "instance", nil), high(10, "group_seq"), flag(10, 0, "ack_request"))
		case m.HeaderLen() >= frame.McastLen:
			l = append(l, w(8, "service_type", nil), w(9, "lower", nil), w(10, "upper", nil))
		case m.HeaderLen() >= frame.NamedLen:
			l = append(l, w(8, "service_type", nil), w(9, "instance", nil))
		}
	case u == frame.UserBroadcast:
		l = append(l, high(4, "last_bcast"))
		if !m.NonSeq() {
			l = append(l, flag(5, 14, "bcast_ack_invalid"))
		}
		netID()
		nodes()
	case u == frame.UserBundler:
		netID()
		nodes()
		l = append(l, high(9, "count"), slot{9, 2, 0, "importance", showImportance})
	case u == frame.UserLink:
		l = append(l, high(4, "last_bcast"), low(4, "next_sent"), high(5, "session"), flag(5, 14, "bcast_ack_invalid"))
		if !k.IsState() {
			l = append(l, flag(5, 13, "peer_stopping"))
		}
		l = append(l, flag(5, 12, "redundant_link"), slot{5, 11, 9, "bearer", nil}, slot{5, 8, 4, "priority", nil}, slot{5, 3, 1, "plane", nil})
		if k.IsState() {
			l = append(l, flag(5, 0, "probe"))
		}
		nodes()
		if k.IsState() {
			l = append(l, slot{8, 9, 0, "bcast_gap", nil})
		} else {
			l = append(l, high(9, "max_packet_words"))
		}
		l = append(l, low(9, "tolerance"))
	case u == frame.UserConn:
		ports()
		nodes()
		if frame.ConnType(m.RawType()) == frame.ConnAck {
			l = append(l, high(9, "acked"), low(9, "window"))
		}
	case u == frame.UserGroup:
		ports()
		nodes()
		switch t := frame.GroupType(m.RawType()); t {
		case frame.GroupJoin, frame.GroupLeave:
			l = append(l, high(9, "sync_point"))
		case frame.GroupAck:
			l = append(l, high(9, "next_expected"))
		case frame.GroupRemit:
			l = append(l, high(9, "remitted"))
		}
		if t := frame.GroupType(m.RawType()); t == frame.GroupJoin || t == frame.GroupAdv {
			l = append(l, low(9, "window"))
		}
	case u == frame.UserTunnel:
		l = append(l, high(4, "piece"), low(4, "pieces"), slot{5, 11, 9, "bearer", nil})
		nodes()
		if (frame.Tunnel{Message: m}).IsSynchPoint() {
			l = append(l, high(9, "sync_point"))
		} else {
			l = append(l, high(9, "count"))
		}
	case u == frame.UserName:
		l = append(l, low(4, "update_seq"))
		if !m.NonSeq() {
			l = append(l, flag(5, 14, "bcast_ack_invalid"))
		}
		netID()
		nodes()
	case u == frame.UserFragment:
		l = append(l, high(4, "fragment"))
		netID()
		nodes()
		l = append(l, slot{9, 2, 0, "importance", showImportance})
	case u == frame.UserCrypto:
		l = append(l, high(4, "generation"), slot{4, 3, 0, "mode", nil})
		netID()
		nodes()
	case u == frame.UserDiscovery:
		l = append(l, w(4, "net_id", nil), w(5, "media_type", showMedia))
		b := m.Bytes()[24:]
		switch {
		case frame.MediaType(m.Word(5)) == frame.MediaEthernet: // the MAC itself is shown whole
			l = append(l, w(6, "", nil), slot{7, 31, 16, "", nil})
		case b[0] == 0x86:
			l = append(l, w(6, "", nil), w(7, "", nil), w(8, "", nil), w(9, "", nil), w(10, "", nil))
		default:
			l = append(l, w(6, "", nil), w(7, "", nil))
		}
		l = append(l, w(13, "net_hash", showHex), w(14, "suggested", showNode))
	}
	return l
}

// Reserved returns, by word, the bits of the header of m that belong to no field; m is one that
// [frame.Message.Check] takes. Source: docs/spec/01-wire.md §2, §4.
func Reserved(m frame.Message) [frame.MaxHeader / 4]uint32 {
	return reserved(m.HeaderLen()/4, layout(m))
}

// reserved returns, by word, the bits of a header of n words that are in none of l.
func reserved(n int, l []slot) (mask [frame.MaxHeader / 4]uint32) {
	for i := range n {
		mask[i] = 0xffffffff
	}
	for _, s := range l {
		mask[s.word] &^= s.mask()
	}
	return mask
}
