// SPDX-License-Identifier: Apache-2.0

package sim_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/test/sim"
)

// word and setWord are a header word of a message.
func word(b []byte, i int) uint32       { return binary.BigEndian.Uint32(b[4*i:]) }
func setWord(b []byte, i int, v uint32) { binary.BigEndian.PutUint32(b[4*i:], v) }

// add adds to the field of a word that ends at bit shift.
func add(i int, shift uint, width uint, n int) func([]byte) {
	return func(b []byte) {
		w := word(b, i)
		mask := uint32(1<<width-1) << shift
		setWord(b, i, w&^mask|(w+uint32(n)<<shift)&mask)
	}
}

// mistakes are changes to recorded conversations: which capture, which frame of
// it, counted from 1, and which rule sees it there, or later.
var mistakes = []struct {
	rule    string
	capture string
	which   func(m frame.Message) bool
	nth     int // among those, from 1
	change  func(b []byte)
}{
	{"session", "01", isState, 3, add(5, 16, 16, 1)},
	{"session-up", "01", isReset, 1, nil},
	{"activate-session", "01", isActivate, 1, add(1, 0, 16, 5)},
	{"state-first", "01", isState, 1, add(2, 16, 16, 1)},
	{"state-seq", "01", isState, 4, add(2, 0, 16, 1)},
	{"next-sent", "01", isState, 5, add(4, 0, 16, 1)},
	{"gap", "16", hasGap, 1, add(1, 16, 13, 4000)},
	{"blocks", "16", hasBlocks, 1, add(11, 16, 16, 5000)},
	{"record", "01", isState, 4, cutRecord},
	{"packet-seq", "06", isUser(frame.UserLow), 2, add(2, 0, 16, 7)},
	{"packet-repeat", "16", isRepeat(), 1, add(4, 0, 32, 1)},
	{"link-ack", "01", isState, 6, add(2, 16, 16, 100)},
	{"ack-order", "16", isState, 20, add(2, 16, 16, -500)},
	{"link-mtu", "05", isActivate, 1, add(9, 16, 16, -350)},
	{"first-packet", "01", isUser(frame.UserBroadcast), 1, func(b []byte) { setWord(b, 0, word(b, 0)&^(15<<25)|uint32(frame.UserConn)<<25) }},
	{"synch-point", "18", isTunnel(frame.TunnelSynch), 1, add(9, 16, 16, -5)},
	{"tunnel-bearer", "18", isTunnel(frame.TunnelSynch), 1, add(5, 9, 3, 1)},
	{"tunnel-count", "18", isTunnel(frame.TunnelFailover), 2, add(9, 16, 16, 1)},
	{"tunnel-order", "18", isTunnel(frame.TunnelFailover), 3, add(12, 0, 16, -2)},
	{"tunnel-repeat", "18", isTunnel(frame.TunnelFailover), 2, add(14, 0, 32, 1)},
	{"tunnel-pieces", "18", isTunnel(frame.TunnelFailover), 2, func(b []byte) { setWord(b, 4, 2<<16|3) }},
	{"tunnel-end", "18", isTunnelEnd, 1, add(11, 25, 4, 1)},
	{"bcast-seq", "05", isBroadcast, 3, add(2, 0, 16, 9)},
	{"bcast-repeat", "15", isBroadcastRepeat(), 1, func(b []byte) { b[len(b)-1]++ }},
	{"bcast-missing", "15", isBroadcast, 5, nil},
	{"bcast-net", "14", isBroadcast, 3, add(5, 0, 32, 1)},
	{"bcast-ack", "05", isState, 10, add(1, 0, 16, 900)},
	{"bcast-ack-order", "15", hasBcastAck, 60, add(1, 0, 16, -3)},
	{"bcast-gap", "15", hasBcastGap, 1, add(8, 0, 10, 900)},
	{"last-bcast", "05", isState, 8, add(4, 16, 16, 1)},
	{"fragments", "12", isUser(frame.UserFragment), 3, add(1, 29, 3, -1)},
	{"fragment-total", "12", isUser(frame.UserFragment), 1, func(b []byte) { add(0, 0, 17, -4)(b[frame.IntLen:]) }},
	{"last-bulk", "05", isMoreBulk, 1, func(b []byte) { setWord(b, 1, word(b, 1)|1<<27) }},
	{"update-seq", "05", isUpdate, 2, add(4, 0, 16, 1)},
	{"withdrawal", "05", isWithdrawal, 1, add(14, 0, 32, 1)},
	{"returned", "07", isReturned, 1, add(5, 0, 32, 1)},
	{"returned", "13", isUser(frame.UserBundler), 1, add(11, 25, 4, 1)},                                                           // the first message in it
	{"withdrawal", "05", func(m frame.Message) bool { return m.NonSeq() && m.User() == frame.UserBundler }, 1, add(24, 0, 32, 1)}, // the same
	{"conn-answer", "09", isConn(0), 1, add(5, 0, 32, 1)},
	{"conn-answer", "08", isConn(0), 1, func(b []byte) { add(5, 0, 32, 1)(b); add(4, 0, 32, 1)(b) }},
	{"conn-answer", "08", isRequest, 2, func(b []byte) { setWord(b, 0, word(b, 0)&^(1<<17)) }},
	{"conn-ack", "09", isConnAck, 1, add(9, 16, 16, 200)},
	{"conn-ack", "08", isConnAck, 3, add(9, 16, 16, 60)},
	{"conn-asked", "09", isConnAck, 1, func(b []byte) { setWord(b, 0, word(b, 0)|1<<18) }},
	{"conn-asked", "08", func(m frame.Message) bool { return isConn(1000)(m) && word(m.Bytes(), 0)&(1<<18) != 0 }, 2, func(b []byte) { setWord(b, 0, word(b, 0)&^(1<<18)) }},
	{"conn-end", "09", isConn(1), 1, add(1, 25, 4, int(frame.ConnShutdown))},
	{"conn-end", "10", isConn(200), 5, add(1, 25, 4, int(frame.NoPort))},
	{"answer-asked", "02", isDisc(frame.Response), 1, add(2, 0, 32, 1)},
	{"trial-refused", "03", isDisc(frame.TrialFail), 1, add(2, 0, 32, 1)},
	{"trial-after", "02", isDisc(frame.Trial), 2, func(b []byte) { setWord(b, 1, word(b, 1)&^(15<<28)) }},
	{"announced", "01", isDisc(frame.Request), 3, add(13, 0, 32, 1)},
}

func isState(m frame.Message) bool {
	p, err := frame.ParseLink(m)
	return err == nil && p.IsState()
}

func state(m frame.Message) (s frame.State, ok bool) {
	p, err := frame.ParseLink(m)
	if err != nil {
		return s, false
	}
	return p.State()
}

func isReset(m frame.Message) bool {
	p, err := frame.ParseLink(m)
	return err == nil && p.IsReset()
}

func isActivate(m frame.Message) bool {
	p, err := frame.ParseLink(m)
	return err == nil && p.IsActivate()
}

func hasGap(m frame.Message) bool { s, ok := state(m); return ok && s.Gap() > 0 }

func hasBcastGap(m frame.Message) bool { s, ok := state(m); return ok && s.BcastGap() > 0 }

func hasBcastAck(m frame.Message) bool { s, ok := state(m); return ok && s.BcastAck() > 3 }

func hasBlocks(m frame.Message) bool {
	s, ok := state(m)
	if !ok {
		return false
	}
	g, _, err := s.GapAcks(true)
	return err == nil && g.Unicast().Len() > 0 && g.Bcast().Len() == 0
}

func isUser(u frame.User) func(frame.Message) bool {
	return func(m frame.Message) bool { return m.User() == u && !m.NonSeq() }
}

func isTunnel(of frame.TunnelType) func(frame.Message) bool {
	return func(m frame.Message) bool {
		t, err := frame.ParseTunnel(m)
		return err == nil && t.Type() == of
	}
}

// isTunnelEnd finds the empty message behind a failed link's packets.
func isTunnelEnd(m frame.Message) bool {
	t, err := frame.ParseTunnel(m)
	if err != nil || t.Type() != frame.TunnelFailover {
		return false
	}
	in, err := t.Inner()
	return err == nil && len(in.Bytes()) == frame.BasicLen
}

func isBroadcast(m frame.Message) bool { return m.NonSeq() && m.User() != frame.UserDiscovery }

func isBroadcastRepeat() func(frame.Message) bool {
	return again(isBroadcast)
}

func isRepeat() func(frame.Message) bool { return again(isUser(frame.UserLow)) }

// again finds packets whose number was there before.
func again(kind func(frame.Message) bool) func(frame.Message) bool {
	type packet struct {
		from frame.NodeAddr
		seq  frame.Seq
	}
	seen := map[packet]bool{}
	return func(m frame.Message) bool {
		p := packet{m.Prev(), m.Seq()}
		old := kind(m) && seen[p]
		seen[p] = seen[p] || kind(m)
		return old
	}
}

func names(m frame.Message, ok func(frame.Names) bool) bool {
	n, err := frame.ParseNames(m)
	return err == nil && ok(n)
}

func isMoreBulk(m frame.Message) bool {
	return names(m, func(n frame.Names) bool { return n.Bulk() && !n.LastBulk() })
}

func isUpdate(m frame.Message) bool {
	return names(m, func(n frame.Names) bool { return !n.Bulk() })
}

func isWithdrawal(m frame.Message) bool { return names(m, frame.Names.Withdrawal) }

func isReturned(m frame.Message) bool {
	p, err := frame.ParsePayload(m)
	return err == nil && p.Error() != frame.OK && p.Type() != frame.ConnMsg
}

// isConn finds messages of connections with so many bytes.
func isConn(n int) func(frame.Message) bool {
	return func(m frame.Message) bool {
		p, err := frame.ParsePayload(m)
		return err == nil && p.Type() == frame.ConnMsg && p.Error() == frame.OK && len(p.Data()) == n
	}
}

func isRequest(m frame.Message) bool {
	p, err := frame.ParsePayload(m)
	return err == nil && p.Type() == frame.NamedMsg && p.Syn()
}

func isConnAck(m frame.Message) bool {
	p, err := frame.ParseConn(m)
	return err == nil && p.Fields().Type == frame.ConnAck
}

func isDisc(t frame.DiscoveryType) func(frame.Message) bool {
	return func(m frame.Message) bool {
		d, err := frame.ParseDiscovery(m)
		return err == nil && d.Type() == t
	}
}

// cutRecord makes a STATE's record one of no length, which is none.
func cutRecord(b []byte) { setWord(b, 0, word(b, 0)&^0x1ffff|frame.IntLen) }

// TestConversationSeesMistakes changes one frame of a capture and wants the rule
// to see it, which did not before.
//
// Proves: wire.lint, link.simulated, names.simulated, socket.simulated
func TestConversationSeesMistakes(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range mistakes {
		all := capture(t, x.capture)
		before := rules(all)
		n, did := 0, false
		for _, s := range all {
			m, err := frame.Parse(s.msg)
			if err != nil || !x.which(m) {
				continue
			}
			if n++; n != x.nth {
				continue
			}
			did = true
			if x.change != nil {
				x.change(s.msg)
			} else {
				// What came before the link was up is said again at the end.
				s.number, s.at = len(all)+1, all[len(all)-1].at
				all = append(all, s)
			}
			break
		}
		after := rules(all)
		if !did || after[x.rule] <= before[x.rule] {
			t.Errorf("%s: capture %s, changed %v: got %v, before %v", x.rule, x.capture, did, after, before)
		}
		seen[x.rule] = true
	}
	for rule, all := range made(t) {
		if after := rules(all); after[rule] == 0 {
			t.Errorf("%s: got %v, want it", rule, after)
		}
		seen[rule] = true
	}
	for _, r := range sim.ConversationRules() {
		if !seen[r.ID] || r.Source == "" || r.Text == "" {
			t.Errorf("%s: broken by a test %v, source %q, text %q", r.ID, seen[r.ID], r.Source, r.Text)
		}
	}
}

// made are conversations changed in more than one frame, by the rule they break.
func made(t *testing.T) map[string][]spoken {
	// B takes no updates over the broadcast link.
	legacy := capture(t, "05")
	for _, s := range legacy {
		if m, _ := frame.Parse(s.msg); m.User() == frame.UserDiscovery && m.Prev() == nodeB {
			setWord(s.msg, 1, word(s.msg, 1)&^(uint32(frame.CapNamedBcast)<<15))
		}
	}
	// B repeats its first packet after each frame instead of any STATE.
	var silent []spoken
	var opening spoken
	for _, s := range capture(t, "01") {
		m, _ := frame.Parse(s.msg)
		if isState(m) && m.Prev() == nodeB && opening.msg != nil {
			continue
		}
		if m.User() == frame.UserBroadcast && m.Prev() == nodeB {
			opening = s
		}
		if silent = append(silent, s); opening.msg != nil {
			opening.at = s.at
			silent = append(silent, opening)
		}
	}
	// A sends without end.
	endless := capture(t, "01")
	for _, s := range endless {
		if m, _ := frame.Parse(s.msg); m.User() != frame.UserBroadcast || m.Prev() == nodeB {
			continue
		}
		for q := range frame.Seq(9000) {
			s.at, s.msg = endless[len(endless)-1].at, append([]byte(nil), s.msg...)
			frame.StampSeq(s.msg, q+1)
			endless = append(endless, s)
		}
		break
	}
	// A broadcasts without end.
	flood := capture(t, "15")
	var last spoken
	for _, s := range flood {
		if m := parsed(s); isBroadcast(m) && m.Prev() != nodeB && (last.msg == nil || m.Seq().After(parsed(last).Seq())) {
			last = s
		}
	}
	for q := range frame.Seq(51) {
		s := last
		s.at, s.msg = flood[len(flood)-1].at, append([]byte(nil), s.msg...)
		frame.StampSeq(s.msg, parsed(s).Seq()+q+1)
		flood = append(flood, s)
	}
	last.at = flood[len(flood)-1].at + time.Second
	flood = append(flood, last)
	// A sends on a connection whatever B has read.
	var eager []spoken
	for _, s := range capture(t, "09") {
		if eager = append(eager, s); s.number < 131 {
			continue
		}
		for range 300 {
			s.msg = append([]byte(nil), s.msg...)
			frame.StampSeq(s.msg, parsed(s).Seq()+1)
			eager = append(eager, s)
		}
		break
	}
	// A tells its last update again, and another port.
	changed := capture(t, "05")
	var next frame.Seq
	for i := len(changed) - 1; i >= 0; i-- {
		s := changed[i]
		if m := parsed(s); !isBroadcast(m) || m.Prev() == nodeB {
			continue
		}
		next = max(next, parsed(s).Seq()+1)
		if isUpdate(parsed(s)) {
			s.at, s.msg = changed[len(changed)-1].at, append([]byte(nil), s.msg...)
			frame.StampSeq(s.msg, next)
			s.msg[frame.IntLen+15]++
			changed = append(changed, s)
			break
		}
	}
	return map[string][]spoken{"update-repeat": changed, "bcast-window": flood, "failed-silent": afterFailover(t), "update-way": legacy, "probe-answer": silent, "unacked": endless, "conn-unacked": eager}
}

func parsed(s spoken) frame.Message {
	m, _ := frame.Parse(s.msg)
	return m
}

// afterFailover is capture 18 with one more packet of the link that failed, behind the
// first that went through the tunnel.
func afterFailover(t *testing.T) (all []spoken) {
	type way struct {
		from frame.NodeAddr
		src  frame.MAC
	}
	last := map[way]spoken{}
	done := false
	for _, s := range capture(t, "18") {
		all = append(all, s)
		m, err := frame.Parse(s.msg)
		if err != nil || m.User() == frame.UserLink || m.User() == frame.UserDiscovery || m.NonSeq() {
			continue
		}
		if !done && isTunnel(frame.TunnelFailover)(m) {
			for w, x := range last {
				if w.from == m.Prev() && w.src != s.src {
					x.msg, x.at = append([]byte(nil), x.msg...), s.at
					p, _ := frame.Parse(x.msg)
					frame.StampSeq(x.msg, p.Seq()+1)
					all, done = append(all, x), true
				}
			}
		}
		last[way{m.Prev(), s.src}] = s
	}
	return all
}

const nodeB frame.NodeAddr = 0x01001002

// rules counts what breaks each rule.
func rules(all []spoken) map[string]int {
	n := map[string]int{}
	short, _ := found(all)
	for _, s := range short {
		for i := range s {
			if s[i] == ' ' {
				n[s[i+1:]]++
				break
			}
		}
	}
	return n
}
