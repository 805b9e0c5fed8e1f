// SPDX-License-Identifier: Apache-2.0

package frame

import "fmt"

// A slot is a field in a header word: its bits from high down to low, its name,
// and how its value reads; nil show is a number, or yes and no when it is one bit.
type slot struct {
	word, high, low int
	name            string
	show            func(v uint32) string
}

func (s slot) mask() uint32 { return (1<<(s.high-s.low+1) - 1) << s.low }

func showNode(v uint32) string  { return NodeAddr(v).String() }
func showHex(v uint32) string   { return fmt.Sprintf("%x", v) }
func showUser(v uint32) string  { return User(v).String() }
func showError(v uint32) string { return ErrorCode(v).String() }
func showScope(v uint32) string { return Scope(v).String() }
func showCaps(v uint32) string  { return Capabilities(v).String() }
func showMedia(v uint32) string {
	switch MediaType(v) {
	case MediaEthernet:
		return "ethernet"
	case MediaUDP:
		return "udp"
	}
	return fmt.Sprint(v)
}

func showImportance(v uint32) string { return Importance(v).String() }

func showLinkType(v uint32) string {
	return [...]string{linkState: "state", linkReset: "reset", linkActivate: "activate"}[v]
}

func showBcastType(v uint32) string { return "state" }
func showKeyType(v uint32) string   { return "key" }

// showSealed says what is inside an encrypted packet.
func showSealed(v uint32) string {
	switch User(v) {
	case UserLink:
		return "state"
	case UserDiscovery:
		return "disc"
	}
	return "message"
}

// showTypes has the names of the types of each user. Source:
// docs/spec/01-wire.md §3.2.
var showTypes = map[User]func(v uint32) string{
	UserBroadcast: showBcastType,
	UserLink:      showLinkType,
	UserConn:      func(v uint32) string { return ConnType(v).String() },
	UserGroup:     func(v uint32) string { return GroupType(v).String() },
	UserTunnel:    func(v uint32) string { return TunnelType(v).String() },
	UserName:      func(v uint32) string { return [...]string{"publish", "withdraw"}[v] },
	UserFragment:  func(v uint32) string { return FragmentType(v).String() },
	UserDiscovery: func(v uint32) string { return DiscoveryType(v).String() },
	UserCrypto:    showKeyType,
}

// layout returns the fields in the header of m, which a kind's parser takes, in
// the order of the wire. Bits in none of them are reserved.
// Source: docs/spec/01-wire.md §2, §4.
// Complex: one case for each kind of message, in the order of the words on the wire, as the specification has them.
//
//gocyclo:ignore
func (m Message) layout() []slot {
	w := func(word int, name string, show func(uint32) string) slot { return slot{word, 31, 0, name, show} }
	high := func(word int, name string) slot { return slot{word, 31, 16, name, nil} }
	low := func(word int, name string) slot { return slot{word, 15, 0, name, nil} }
	flag := func(word, bit int, name string) slot { return slot{word, bit, bit, name, nil} }

	u := m.User()
	l := []slot{
		{0, 31, 29, "version", nil},
		{0, 28, 25, "user", showUser},
		{0, 24, 21, "header_words", nil},
		flag(0, 20, "non_seq"),
	}
	show := showTypes[u]
	switch {
	case u.IsPayload():
		show = func(v uint32) string { return PayloadType(v).String() }
		name18 := "src_droppable"
		switch PayloadType(m.RawType()) {
		case ConnMsg:
			name18 = "ack_required"
		case McastMsg, GroupBcastMsg, GroupMcastMsg:
			name18 = "is_rcast"
		}
		l = append(l, flag(0, 19, "dest_droppable"), flag(0, 18, name18), flag(0, 17, "syn"))
	case u == UserLink && m.RawType() == linkState:
		l = append(l, flag(0, 19, "keepalive"))
	case u == UserGroup:
		l = append(l, flag(0, 19, "dest_droppable"))
	case u == UserConn && ConnType(m.RawType()) == ConnAck:
		l = append(l, flag(0, 18, "nagle_ack"))
	}
	l = append(l, slot{0, 16, 0, "size", nil})

	if u != UserBundler {
		l = append(l, slot{1, 31, 29, "type", show})
	}
	switch {
	case u.IsPayload():
		l = append(l, slot{1, 28, 25, "error_code", showError}, slot{1, 24, 21, "reroute", nil}, slot{1, 20, 19, "scope", showScope}, low(1, "bcast_ack"))
	case u == UserConn:
		l = append(l, slot{1, 28, 25, "error_code", showError}, low(1, "bcast_ack"))
	case u == UserLink && m.RawType() == linkState:
		l = append(l, slot{1, 28, 16, "gap", nil}, low(1, "bcast_ack"))
	case u == UserLink && m.RawType() == linkActivate:
		l = append(l, flag(1, 16, "dest_session_valid"), low(1, "dest_session"))
	case u == UserName:
		l = append(l, flag(1, 28, "bulk"), flag(1, 27, "last_bulk"), flag(1, 26, "non_legacy"), low(1, "bcast_ack"))
	case u == UserDiscovery: // bit 15 is in both
		l = append(l, slot{1, 27, 15, "capabilities", showCaps}, slot{1, 15, 0, "signature", showHex})
	default:
		l = append(l, low(1, "bcast_ack"))
	}

	switch {
	case u == UserDiscovery:
		l = append(l, w(2, "dest_domain", showNode))
	case u == UserBroadcast && m.NonSeq():
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
		if m.hlen < BasicLen {
			break
		}
		nodes()
		group := PayloadType(m.RawType()) >= GroupBcastMsg
		switch {
		case m.hlen >= McastLen && group:
			l = append(l, w(8, "group", nil), w(9, "instance", nil), high(10, "group_seq"), flag(10, 0, "ack_request"))
		case m.hlen >= McastLen:
			l = append(l, w(8, "service_type", nil), w(9, "lower", nil), w(10, "upper", nil))
		case m.hlen >= NamedLen:
			l = append(l, w(8, "service_type", nil), w(9, "instance", nil))
		}
	case u == UserBroadcast:
		l = append(l, high(4, "last_bcast"))
		if !m.NonSeq() {
			l = append(l, flag(5, 14, "bcast_ack_invalid"))
		}
		netID()
		nodes()
	case u == UserBundler:
		netID()
		nodes()
		l = append(l, high(9, "count"), slot{9, 2, 0, "importance", showImportance})
	case u == UserLink:
		l = append(l, high(4, "last_bcast"), low(4, "next_sent"), high(5, "session"), flag(5, 14, "bcast_ack_invalid"))
		if m.RawType() != linkState {
			l = append(l, flag(5, 13, "peer_stopping"))
		}
		l = append(l, flag(5, 12, "redundant_link"), slot{5, 11, 9, "bearer", nil}, slot{5, 8, 4, "priority", nil}, slot{5, 3, 1, "plane", nil})
		if m.RawType() == linkState {
			l = append(l, flag(5, 0, "probe"))
		}
		nodes()
		if m.RawType() == linkState {
			l = append(l, slot{8, 9, 0, "bcast_gap", nil})
		} else {
			l = append(l, high(9, "max_packet_words"))
		}
		l = append(l, low(9, "tolerance"))
	case u == UserConn:
		ports()
		nodes()
		if ConnType(m.RawType()) == ConnAck {
			l = append(l, high(9, "acked"), low(9, "window"))
		}
	case u == UserGroup:
		ports()
		nodes()
		switch t := GroupType(m.RawType()); t {
		case GroupJoin, GroupLeave:
			l = append(l, high(9, "sync_point"))
		case GroupAck:
			l = append(l, high(9, "next_expected"))
		case GroupRemit:
			l = append(l, high(9, "remitted"))
		}
		if t := GroupType(m.RawType()); t == GroupJoin || t == GroupAdv {
			l = append(l, low(9, "window"))
		}
	case u == UserTunnel:
		l = append(l, high(4, "piece"), low(4, "pieces"), slot{5, 11, 9, "bearer", nil})
		nodes()
		if (Tunnel{m}).IsSynchPoint() {
			l = append(l, high(9, "sync_point"))
		} else {
			l = append(l, high(9, "count"))
		}
	case u == UserName:
		l = append(l, low(4, "update_seq"))
		if !m.NonSeq() {
			l = append(l, flag(5, 14, "bcast_ack_invalid"))
		}
		netID()
		nodes()
	case u == UserFragment:
		l = append(l, high(4, "fragment"))
		netID()
		nodes()
		l = append(l, slot{9, 2, 0, "importance", showImportance})
	case u == UserCrypto:
		l = append(l, high(4, "generation"), slot{4, 3, 0, "mode", nil})
		netID()
		nodes()
	case u == UserDiscovery:
		l = append(l, w(4, "net_id", nil), w(5, "media_type", showMedia))
		b := m.b[24:]
		switch {
		case MediaType(m.word(5)) == MediaEthernet: // the MAC itself is shown whole
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

// reserved returns, by word, the bits of the header that belong to no field.
func reserved(m Message, l []slot) (mask [MaxHeader / 4]uint32) {
	for i := range m.hlen / 4 {
		mask[i] = 0xffffffff
	}
	for _, s := range l {
		mask[s.word] &^= s.mask()
	}
	return mask
}
