// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"errors"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// ErrFragment means a fragment out of its place, or more of them than the
// message has bytes. On a unicast link that is a failure of the link.
var ErrFragment = errors.New("flowctl: fragments do not make a message")

// A Reassembly joins the fragments of one message; they come one behind the
// other. Its memory is at most one message. The zero value is ready.
// Source: docs/spec/01-wire.md §7.
type Reassembly struct {
	in   *netdev.Buffer // what has come; nil between messages
	want int            // length of the whole
	pool *Pool
}

// SetPool makes the memory come from a pool and count there: one message is joined in any
// case, others have less for what comes early.
func (r *Reassembly) SetPool(p *Pool) { r.pool = p }

// Add takes the next fragment. With the last it returns the whole message, which is the
// caller's to release; done is false before. Errors: ErrFragment, after which the
// Reassembly is empty again.
func (r *Reassembly) Add(f frame.Fragment) (whole Packet, done bool, err error) {
	d := f.Data()
	switch first := f.Type() == frame.FirstFragment; {
	case first != (r.in == nil):
		return r.fail()
	case first:
		// The first fragment begins with the whole message's header; its size is
		// a claim until that many bytes have come.
		if len(d) < frame.ShortLen {
			return r.fail()
		}
		r.want = frame.ClaimedSize(d)
		if r.want > frame.MaxMessage {
			return r.fail()
		}
		r.in = r.pool.get(min(r.want, 4*len(d)))
	}
	had := r.in.Len()
	if f.Type() == frame.LastFragment && had+len(d) > r.want {
		d = d[:max(0, r.want-had)] // padding of a short frame
	}
	if had+len(d) > r.want {
		return r.fail()
	}
	if len(d) > r.in.Tailroom() {
		r.grow(min(r.want, max(had+len(d), 2*had)))
	}
	copy(r.in.Extend(len(d)), d)
	if f.Type() != frame.LastFragment {
		return Packet{}, false, nil
	}
	m, err := frame.Parse(r.in.Bytes())
	if err != nil || !fragmentable(m.User()) {
		return r.fail()
	}
	whole = Packet{Message: m, buf: r.in}
	r.pool.add(-room(r.in))
	r.in, r.want = nil, 0
	return whole, true, nil
}

// grow moves what has come to memory for n bytes.
func (r *Reassembly) grow(n int) {
	in := r.pool.get(n)
	copy(in.Extend(r.in.Len()), r.in.Bytes())
	want := r.want
	r.Clear()
	r.in, r.want = in, want
}

func (r *Reassembly) fail() (Packet, bool, error) {
	r.Clear()
	return Packet{}, false, ErrFragment
}

// Clear drops what has come so far.
func (r *Reassembly) Clear() {
	if r.in != nil {
		r.pool.add(-room(r.in))
		r.in.Recycle()
	}
	r.in, r.want = nil, 0
}

// room is how many bytes a Buffer that was filled from its beginning holds at most.
func room(b *netdev.Buffer) int { return b.Len() + b.Tailroom() }

func fragmentable(u frame.User) bool {
	return u.IsPayload() || u == frame.UserConn || u == frame.UserGroup || u == frame.UserName
}
