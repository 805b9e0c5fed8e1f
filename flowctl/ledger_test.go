// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A ledger follows every message of one session from Send, Hold or Room to the
// packet it leaves in: none is lost, doubled, changed or overtaken by one of its
// importance, and what is of importance System overtakes nothing.
type ledger struct {
	r        *scriptedPeer
	lastID   uint32
	waits    [frame.System + 1][]uint32 // accepted and in no packet with a number, in order
	sent     frame.Seq                  // the newest packet that was looked at
	contents map[frame.Seq]uint64       // of packets that are not acknowledged, but for their acknowledgements
	held     bool                       // since the last Flush
}

var seed = maphash.MakeSeed()

func newLedger(r *scriptedPeer) *ledger {
	return &ledger{r: r, lastID: 1 << 24, contents: map[frame.Seq]uint64{}}
}

// users are those a link sends, in the importances below System payload.
var systemUsers = []frame.User{
	frame.UserConn, frame.UserGroup, frame.UserName, frame.UserFragment, frame.UserTunnel, frame.UserBroadcast, frame.UserLow,
}

// message writes the next message into b, which has its length; u picks its user.
func (l *ledger) message(b []byte, imp frame.Importance, u byte) {
	f := frame.PayloadFields{Importance: imp, Type: frame.DirectMsg, OrigNode: self, DestNode: peer}
	user := frame.User(imp)
	switch {
	case imp == frame.System:
		f.Importance, f.Error = frame.Low, frame.NoPort
		user = systemUsers[int(u)%len(systemUsers)]
	case u > 240: // one piece of a long message
		user = frame.UserFragment
	}
	f.Put(b, len(b)-frame.BasicLen)
	b[0] = b[0]&^0x1e | byte(user)<<1
	data := b[frame.BasicLen:]
	for i := range data {
		data[i] = byte(l.lastID + 1)
	}
	binary.BigEndian.PutUint32(data, l.lastID+1)
}

// accepted notes that the last message was taken.
func (l *ledger) accepted(imp frame.Importance) {
	l.lastID++
	l.waits[imp] = append(l.waits[imp], l.lastID)
}

// send gives the link a message of n bytes by one of three ways, and reports
// false without memory.
func (l *ledger) send(way byte, n int, imp frame.Importance, u byte) bool {
	r := l.r
	if way%3 == 2 && imp < frame.System {
		if room := r.Room(n, imp); room != nil {
			if len(room) != n {
				r.t.Fatalf("got %d bytes of room, want %d", len(room), n)
			}
			l.message(room, imp, 0)
			l.accepted(imp)
			return true
		}
	}
	b := r.arena.Get(frame.EthernetLen+n, netdev.Data)
	if b == nil {
		return false
	}
	b.Extend(frame.EthernetLen + n)
	l.message(b.Bytes()[frame.EthernetLen:], imp, u)
	var err error
	if way%3 == 0 {
		if err = r.Send(r.now, b, imp); err == nil {
			l.held = false
		}
	} else {
		l.held = true
		err = r.Hold(b, imp)
	}
	if err != nil {
		b.Release()
		return true
	}
	l.accepted(imp)
	return true
}

// sendAll gives the link n packets of one message, or none without memory.
func (l *ledger) sendAll(n int, imp frame.Importance) {
	r := l.r
	var all []*netdev.Buffer
	for i := range n {
		b := r.arena.Get(frame.EthernetLen+60, netdev.Data)
		if b == nil {
			n = 0
			break
		}
		b.Extend(frame.EthernetLen + 60)
		l.lastID += uint32(i) // each has a number of its own
		l.message(b.Bytes()[frame.EthernetLen:], imp, 255)
		l.lastID -= uint32(i)
		all = append(all, b)
	}
	if !r.IsUp() || n == 0 || r.SendAll(r.now, all, imp) != nil {
		for _, b := range all {
			b.Release()
		}
		return
	}
	l.held = false
	for range all {
		l.accepted(imp)
	}
}

func (l *ledger) flush() {
	l.r.Flush(l.r.now)
	l.held = false
}

// restart forgets the session that ended.
func (l *ledger) restart() {
	*l = ledger{r: l.r, lastID: l.lastID, contents: map[frame.Seq]uint64{}}
}

// check looks at the packets that have a number, and at those that wait.
func (l *ledger) check() {
	r := l.r
	r.t.Helper()
	for seq := range l.contents {
		if seq.Before(r.sndNxt - frame.Seq(r.transmit.Len())) {
			delete(l.contents, seq)
		}
	}
	for i := range r.transmit.Len() {
		seq := r.sndNxt - frame.Seq(r.transmit.Len()-i)
		if r.transmit.At(i).b == nil {
			if l.sent.Before(seq) {
				r.t.Fatalf("packet %d was acknowledged before it left", seq)
			}
			continue
		}
		b := r.transmit.At(i).b.Bytes()[frame.EthernetLen:]
		sum := content(b)
		if l.sent.Before(seq) {
			if seq != l.sent+1 {
				r.t.Fatalf("packet %d follows %d", seq, l.sent)
			}
			l.sent, l.contents[seq] = seq, sum
			for _, m := range r.messages(b) {
				l.leaves(m)
			}
		}
		if l.contents[seq] != sum {
			r.t.Fatalf("packet %d is not what it was", seq)
		}
	}
	n := 0
	for i := range r.backlog.Len() {
		n += len(r.messages(r.backlog.At(i).b.Bytes()[frame.EthernetLen:]))
	}
	for _, ids := range l.waits {
		n -= len(ids)
	}
	if n != 0 {
		r.t.Fatalf("%d messages more in the backlog than were given", n)
	}
	if r.Backlog() > 0 && r.Open() && r.IsUp() && !l.held {
		r.t.Fatalf("%d packets wait behind a window with room", r.Backlog())
	}
}

// leaves notes that a message has a packet with a number.
func (l *ledger) leaves(m frame.Message) {
	l.r.t.Helper()
	id := binary.BigEndian.Uint32(m.Bytes()[frame.BasicLen:])
	for _, x := range m.Bytes()[frame.BasicLen+4:] {
		if x != byte(id) {
			l.r.t.Fatalf("message %d was written over", id)
		}
	}
	for imp := range l.waits {
		w := &l.waits[imp]
		if len(*w) == 0 || (*w)[0] != id {
			continue
		}
		*w = (*w)[1:]
		for other, ids := range l.waits {
			if frame.Importance(imp) == frame.System && len(ids) > 0 && ids[0] < id {
				l.r.t.Fatalf("system message %d overtakes %d of importance %d", id, ids[0], other)
			}
		}
		return
	}
	l.r.t.Fatalf("message %d leaves; next are %v", id, l.waits)
}

// messages returns what a packet carries, and checks the packet.
func (r *scriptedPeer) messages(b []byte) (s []frame.Message) {
	r.t.Helper()
	m, err := frame.Parse(b)
	if err != nil || len(m.Bytes()) != len(b) || len(b) > int(r.ownMTU) {
		r.t.Fatalf("%v: %d bytes of %d, MTU %d: %x", err, len(m.Bytes()), len(b), r.ownMTU, b)
	}
	if m.User() != frame.UserBundler {
		return []frame.Message{m}
	}
	u, err := frame.ParseBundle(m)
	if err != nil {
		r.t.Fatal(err)
	}
	for in, err := range u.Messages() {
		if err != nil || !bundleable(in.User()) {
			r.t.Fatalf("%v: %v in a bundle: %x", err, in.User(), b)
		}
		if got, want := in.Importance(), u.Fields().Importance; got != want {
			r.t.Fatalf("%v of importance %v in a bundle of %v", in.User(), got, want)
		}
		s = append(s, in)
	}
	if u.Count() != len(s) || len(s) < 2 || len(b) > int(r.ownMTU)-frame.IntLen-r.cfg.Margin {
		r.t.Fatalf("bundle of %d holds %d, %d bytes: %x", u.Count(), len(s), len(b), b)
	}
	return s
}

// content is a sum of everything in a packet but its acknowledgements.
func content(b []byte) uint64 {
	c := append([]byte(nil), b...)
	frame.StampAcks(c, 0, 0)
	return maphash.Bytes(seed, c)
}
