// SPDX-License-Identifier: Apache-2.0

// Package lint holds messages to the rules of the protocol that one message alone can break:
//
//	for _, f := range lint.Check(b) { fmt.Println(f) }
//
// Each [Rule] stands in the file of its kind under its ID, with its clause in rules.go. It is for
// tools and tests; receivers take many messages that break a rule.
package lint

import (
	"fmt"
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/dissect"
)

// A Rule is something that a message which keeps to the protocol does. A receiver
// takes many messages that break one; a sender should make none.
type Rule struct {
	ID     string // stable
	Source string // the clause, of docs/spec
	Text   string // what holds
	Habit  string // why kernels break it and no harm is done; "" where they do not
}

// A Finding is a rule that a message breaks.
type Finding struct {
	Rule  string // its ID
	Where string // "w5 14" for bits of a header word, "+40" for a byte's offset; inside of what
	Text  string
}

// String returns the finding in one line.
func (f Finding) String() string { return f.Rule + ": " + f.Where + ": " + f.Text }

// Habit says why kernels are known to break the rule, without harm; "" where they
// do not, and the finding means an error.
func (f Finding) Habit() string {
	for _, r := range rules {
		if r.ID == f.Rule {
			return r.Habit
		}
	}
	return ""
}

// Rules returns all rules that [Check] knows, in the order of the specification.
func Rules() []Rule { return slices.Clone(rules) }

// Check holds the message b, cut to what was received, to every rule of the
// specification that one message alone can break, those inside of it too, and
// returns what it breaks. What the two nodes announced to each other it does not
// know: a record at the start of a STATE's data is guessed. A message with a key
// that did arrive encrypted breaks clear-key all the same. It allocates: it is
// for tools and tests.
func Check(b []byte) []Finding {
	var l linter
	m, err := frame.Parse(b)
	switch {
	case err == frame.ErrEncrypted:
		l.encrypted(b)
	case err != nil:
		l.add("base", "w0", "%v", err)
	default:
		l.message(m, onWire)
	}
	return l.found
}

// A linter collects findings.
type linter struct {
	found  []Finding
	inside string // what the words and offsets are within, with a colon and a space
}

func (l *linter) add(rule, where, format string, a ...any) {
	l.found = append(l.found, Finding{rule, l.inside + where, fmt.Sprintf(format, a...)})
}

func (l *linter) addIf(cond bool, rule, where, format string, a ...any) {
	if cond {
		l.add(rule, where, format, a...)
	}
}

// A context is where a message stands.
type context uint8

const (
	onWire     context = iota
	inBundle           // its link's words mean nothing
	inBcast            // in a bundle on the broadcast link
	inFragment         // only its header is there
	inTunnel           // with its own link's words
)

// unsent reports whether a payload message has no trace of a link. Kernels since 5.4 mirror
// such messages, which their own sockets send to each other, to the loopback device.
func unsent(m frame.Message) bool {
	return m.User().IsPayload() && m.Seq() == 0 && m.Ack() == 0 && m.BcastAck() == 0
}

// within lints a message inside of another.
func (l *linter) within(what string, m frame.Message, c context) {
	outer := l.inside
	l.inside = outer + what + ": "
	l.message(m, c)
	l.inside = outer
}

// message holds m to the rules of its kind. The views of kinds are made without their parsers,
// which refuse what a rule is to name; header has seen to it that all words are there.
func (l *linter) message(m frame.Message, c context) {
	n := len(l.found)
	if !l.header(m, c) {
		return
	}
	switch u := m.User(); {
	case u.IsPayload():
		l.payload(m, c)
	case u == frame.UserLink:
		l.link(m)
	case u == frame.UserDiscovery:
		l.discovery(m)
	case u == frame.UserName:
		l.names(m, c)
	case u == frame.UserBroadcast:
		l.broadcast(m)
	case u == frame.UserConn:
		l.conn(m)
	case u == frame.UserGroup:
		l.group(m)
	case u == frame.UserFragment:
		l.fragment(m)
	case u == frame.UserBundler:
		l.bundle(m)
	case u == frame.UserTunnel:
		l.tunnel(m)
	case u == frame.UserCrypto:
		l.key(m)
	}
	if c == inFragment {
		return
	}
	if err := m.Check(); err != nil {
		l.addIf(n == len(l.found), "base", "w0", "%v", err)
		return
	}
	for i, mask := range dissect.Reserved(m) {
		if i < m.HeaderLen()/4 {
			v := m.Word(i) & mask
			l.addIf(v != 0, "reserved", fmt.Sprintf("w%d", i), "reserved bits %08x are set", v)
		}
	}
}

// headerLens are the lengths that headers of m's user and type may have.
func headerLens(m frame.Message) []int {
	switch u := m.User(); {
	case u.IsPayload() && frame.PayloadType(m.RawType()) == frame.ConnMsg:
		return []int{frame.ShortLen, frame.BasicLen}
	case u.IsPayload():
		f := frame.PayloadFields{Type: frame.PayloadType(m.RawType())}
		return []int{f.Len()}
	case u == frame.UserDiscovery:
		return []int{frame.DiscLen}
	}
	return []int{frame.IntLen}
}

// groupEvent is a payload type that never leaves a node.
const groupEvent frame.PayloadType = 4

// types is the number of types each user has; 0 for users that never leave a node.
var types = [16]uint8{8, 8, 8, 8, 0, 1, 8, 3, 3, 6, 2, 2, 3, 4, 1, 0}

// broadcastable reports whether the message may go over the broadcast link.
func broadcastable(m frame.Message) bool {
	switch u := m.User(); {
	case u.IsPayload():
		t := frame.PayloadType(m.RawType())
		return t == frame.McastMsg || t == frame.GroupBcastMsg || t == frame.GroupMcastMsg
	case u == frame.UserBroadcast, u == frame.UserBundler, u == frame.UserName, u == frame.UserFragment, u == frame.UserCrypto:
		return true
	}
	return false
}

// header holds m to the rules that all kinds share, and reports whether its kind's
// words can be looked at.
func (l *linter) header(m frame.Message, c context) bool {
	u := m.User()
	if m.RawType() >= types[u] || u.IsPayload() && frame.PayloadType(m.RawType()) == groupEvent {
		l.add("kind", "w1 31:29", "user %v type %d does not come from the wire", u, m.RawType())
		return false
	}
	if ok := headerLens(m); !slices.Contains(ok, m.HeaderLen()) {
		l.add("header-size", "w0 24:21", "%d bytes, want %v", m.HeaderLen(), ok)
		return false
	}
	l.addIf(u == frame.UserDiscovery && !m.NonSeq(), "non-seq", "w0 20", "discovery within a sequence")
	l.addIf(u != frame.UserDiscovery && m.NonSeq() && !broadcastable(m), "non-seq", "w0 20", "%v never goes over the broadcast link", u)
	l.addIf(m.Prev() == 0, "prev-node", "w3", "no sender")
	if u == frame.UserDiscovery {
		return true
	}
	l.nodes(m, c)
	return true
}

// nodes holds m to the rules about whom it is from and for.
func (l *linter) nodes(m frame.Message, c context) {
	if m.NonSeq() && c == onWire {
		l.addIf(m.NetID() < 1 || m.NetID() > 9999, "net-id", "w5", "%d, want 1 to 9999", m.NetID())
		if m.User() != frame.UserBroadcast {
			l.addIf(m.BcastAck() != 0 || m.Ack() != 0, "bcast-words", "w1 15:0", "acknowledges %d and %d in a broadcast, want 0", m.BcastAck(), m.Ack())
			to, ok := m.DestNode()
			l.addIf(ok && to != 0, "bcast-words", "w7", "a broadcast for %v alone", to)
		}
	}
	if c == inBcast {
		l.addIf(m.NonSeq(), "non-seq", "w0 20", "set inside of a bundle")
		to, ok := m.DestNode()
		l.addIf(ok && to != 0, "bcast-words", "w7", "a broadcast for %v alone", to)
	}
	if to, ok := m.DestNode(); ok && !m.NonSeq() && (c == onWire || c == inTunnel || c == inBundle) {
		l.addIf(to == 0, "dest-node", "w7", "for no node")
		l.addIf(to != 0 && to == m.Prev() && !unsent(m), "dest-node", "w7", "for its own sender %v", to)
	}
	if m.HeaderLen() >= frame.BasicLen {
		orig := frame.NodeAddr(m.Word(6))
		rerouted := m.User().IsPayload() && bits(m, 1, 21, 4) != 0
		l.addIf(orig != m.Prev() && !rerouted, "orig-node", "w6", "%v, want %v as in w3", orig, m.Prev())
	}
}

// bits returns the width bits of word i of m's header from bit low upwards.
func bits(m frame.Message, i, low, width int) uint32 { return m.Word(i) >> low & (1<<width - 1) }

func flag(m frame.Message, i, bit int) bool { return bits(m, i, bit, 1) != 0 }
