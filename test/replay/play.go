// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/utipc/utipc/frame"
)

// What is not built above the link can be played: the link is replayed all the same,
// with messages that the capture has. Calls say so, by the verb play.
//
//	connections  messages of connections and their manager are handed to the link when
//	             the node sent them, or when a call carry says; received ones end in
//	             front of the sockets
var playable = []string{playConnections}

const playConnections = "connections"

// carry hands a message of the node's own that is played to our link, when the frame
// is the first that has it.
func (r *run) carry(f *Frame) error {
	if !r.plays[playConnections] || f.Bad != nil || r.carried[f.No] || r.again[f.No] {
		return nil
	}
	m, err := r.whole(f)
	if err != nil || !connection(m) {
		return nil
	}
	return r.carryTo(r.peers[f.Dst], m)
}

func (r *run) carryTo(to frame.NodeAddr, m frame.Message) error {
	msg := bytes.Clone(m.Bytes())
	frame.StampAcks(msg, 0, 0)
	frame.StampSeq(msg, 0)
	return r.eng.Carry(r.now, to, msg)
}

// whole returns the message that a frame carries, or is the first fragment of.
func (r *run) whole(f *Frame) (frame.Message, error) {
	first, err := frame.ParseFragment(f.Message)
	if err != nil {
		return f.Message, nil
	}
	if first.Type() != frame.FirstFragment {
		return frame.Message{}, frame.ErrUnknown
	}
	b := bytes.Clone(first.Data())
	seq := f.Message.Seq()
	for i := range r.own {
		x := &r.own[i]
		if x.No <= f.No || x.Dst != f.Dst || x.Bad != nil || x.Message.User() != frame.UserFragment || x.Message.Seq() != seq+1 {
			continue
		}
		seq++
		next, _ := frame.ParseFragment(x.Message)
		if b = append(b, next.Data()...); next.Type() == frame.LastFragment {
			return frame.Parse(b)
		}
	}
	return frame.Message{}, fmt.Errorf("frame %d begins a message of which the rest is not there", f.No)
}

// repeated returns the numbers of the frames that send again what another one sent.
func repeated(own []Frame) map[int]bool {
	again := map[int]bool{}
	seen := map[string]int{}
	session := map[frame.MAC]int{}
	for _, f := range own {
		if f.Bad != nil || f.Message.NonSeq() {
			continue
		}
		if l, err := frame.ParseLink(f.Message); err == nil {
			if !l.IsState() {
				session[f.Dst]++
			}
			continue
		}
		d := bytes.Clone(f.Data)
		frame.StampAcks(d[frame.EthernetLen:], 0, 0)
		key := fmt.Sprint(session[f.Dst], d)
		_, again[f.No] = seen[key]
		seen[key] = f.No
	}
	return again
}

// defuse has the messages of a received frame that are played end in front of the
// sockets: they become refusals of which nobody was the sender.
func (r *run) defuse(msg []byte) {
	if !r.plays[playConnections] {
		return
	}
	m, err := frame.Parse(msg)
	if err != nil {
		return
	}
	if connection(m) {
		refuse(msg)
		return
	}
	if u, err := frame.ParseBundle(m); err == nil {
		for inner, err := range u.Messages() {
			if err == nil {
				r.defuse(inner.Bytes())
			}
		}
	}
	if t, err := frame.ParseTunnel(m); err == nil {
		if inner, err := t.Inner(); err == nil {
			r.defuse(inner.Bytes())
		}
	}
	if f, err := frame.ParseFragment(m); err == nil && f.Type() == frame.FirstFragment && len(f.Data()) >= frame.ShortLen {
		if head := f.Data(); connectionHead(head) {
			refuse(head)
		}
	}
}

// refuse gives a message an error code, and no port to go to.
func refuse(msg []byte) {
	w := binary.BigEndian.Uint32(msg[4:])
	binary.BigEndian.PutUint32(msg[4:], w&^(0xf<<25)|uint32(frame.NoPort)<<25)
	clear(msg[20:24])
}

// connectionHead is connection for a message of which only the beginning is there.
func connectionHead(b []byte) bool {
	whole := append(bytes.Clone(b), make([]byte, max(0, frame.ClaimedSize(b)-len(b)))...)
	m, err := frame.Parse(whole)
	return err == nil && connection(m)
}

// stateKey tells STATE messages apart.
type stateKey struct {
	from, to     frame.MAC
	session, seq frame.Seq
}

func stateOf(data []byte) (k stateKey, ok bool) {
	eth, b, err := frame.ParseEthernet(data)
	if err != nil {
		return k, false
	}
	m, err := frame.Parse(b)
	if err != nil {
		return k, false
	}
	l, err := frame.ParseLink(m)
	if err != nil || !l.IsState() {
		return k, false
	}
	return stateKey{eth.Src(), eth.Dst(), l.Session(), l.Seq()}, true
}

// isLink reports whether a frame, which may be nil, is of the link protocol.
func isLink(data []byte) bool {
	_, b, err := frame.ParseEthernet(data)
	return err == nil && len(b) >= frame.ShortLen && frame.UserOf(b) == frame.UserLink
}

// unrecorded reports whether a frame of ours could not have been recorded: it took a
// bearer that was cut, or went to a station whose frames were not captured, or was
// lost before the place where they were.
func (r *run) unrecorded(bearer int, data []byte) bool {
	if r.isCut[bearer] || slices.ContainsFunc(r.dropped, func(d drop) bool { return d.bearer == bearer && r.now >= d.from && r.now < d.to }) || slices.Contains(r.hidden, frame.MAC(data)) {
		return true
	}
	k, ok := stateOf(data)
	return r.leaky && ok && !r.states[k]
}
