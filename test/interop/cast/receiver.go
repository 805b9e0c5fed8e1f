// SPDX-License-Identifier: Apache-2.0

package cast

import (
	"encoding/binary"
	"net"
	"sync"
)

// A Conn is a datagram socket, such as *stack.PacketConn.
type Conn interface {
	ReadFrom(b []byte) (n int, from net.Addr, err error)
	WriteTo(b []byte, to net.Addr) (n int, err error)
}

// A Receiver is one socket that hears a round.
type Receiver struct {
	mu      sync.Mutex // guards what follows
	judge   *judge
	refused int
}

// NewReceiver makes the receiver of that number in the plan.
func NewReceiver(p Plan, receiver int) *Receiver { return &Receiver{judge: newJudge(p, receiver)} }

// Serve receives, and confirms marks, until the socket fails.
func (r *Receiver) Serve(c Conn) error {
	b := make([]byte, 1<<17)
	for {
		n, from, err := c.ReadFrom(b)
		if err != nil {
			return err
		}
		r.mu.Lock()
		_, i, mark := r.judge.take(b[:n])
		r.mu.Unlock()
		if !mark || !r.judge.plan.awaited(r.judge.receiver) {
			continue
		}
		if _, err := c.WriteTo(note(r.judge.receiver, i), from); err != nil { // the sender is gone
			r.mu.Lock()
			r.refused++
			r.mu.Unlock()
		}
	}
}

// Report judges what has come so far.
func (r *Receiver) Report() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep := r.judge.report()
	rep.Refused = r.refused
	return rep
}

// A note confirms a mark. Its length, too short for a message of the pattern,
// tells it from those.
//
//	| 'C' 'A' 'S' 'T' | receiver | number of the message |
const (
	noteLen   = 12
	noteMagic = 0x43415354
)

func note(receiver, i int) []byte {
	b := binary.BigEndian.AppendUint32(nil, noteMagic)
	b = binary.BigEndian.AppendUint32(b, uint32(receiver))
	return binary.BigEndian.AppendUint32(b, uint32(i))
}

func parseNote(b []byte) (receiver, i int, ok bool) {
	if len(b) != noteLen || binary.BigEndian.Uint32(b) != noteMagic {
		return 0, 0, false
	}
	return int(binary.BigEndian.Uint32(b[4:])), int(binary.BigEndian.Uint32(b[8:])), true
}
