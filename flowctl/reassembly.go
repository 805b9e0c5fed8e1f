// SPDX-License-Identifier: Apache-2.0

package flowctl

import (
	"errors"

	"github.com/utipc/utipc/frame"
)

// ErrFragment means a fragment out of its place, or more of them than the
// message has bytes. On a unicast link that is a failure of the link.
var ErrFragment = errors.New("flowctl: fragments do not make a message")

// A Reassembly joins the fragments of one message; they come one behind the
// other. Its memory is at most one message. The zero value is ready.
// Source: docs/spec/01-wire.md §7.
type Reassembly struct {
	buf  []byte // nil between messages
	want int    // length of the whole
	pool *Pool
}

// SetPool makes the memory count in a pool: one message is joined in any case, others
// have less for what comes early.
func (r *Reassembly) SetPool(p *Pool) { r.pool = p }

// Add takes the next fragment. With the last it returns the whole message, whose
// memory is the caller's; done is false before. Errors: ErrFragment, after which
// the Reassembly is empty again.
func (r *Reassembly) Add(f frame.Fragment) (m frame.Message, done bool, err error) {
	d := f.Data()
	switch first := f.Type() == frame.FirstFragment; {
	case first != (r.buf == nil):
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
		n := min(r.want, 4*len(d))
		r.pool.add(n)
		r.buf = make([]byte, 0, n)
	}
	if f.Type() == frame.LastFragment && len(r.buf)+len(d) > r.want {
		d = d[:max(0, r.want-len(r.buf))] // padding of a short frame
	}
	if len(r.buf)+len(d) > r.want {
		return r.fail()
	}
	if n := len(r.buf) + len(d); n > cap(r.buf) {
		buf := make([]byte, len(r.buf), min(r.want, max(n, 2*cap(r.buf))))
		r.pool.add(cap(buf) - cap(r.buf))
		copy(buf, r.buf)
		r.buf = buf
	}
	r.buf = append(r.buf, d...)
	if f.Type() != frame.LastFragment {
		return frame.Message{}, false, nil
	}
	m, err = frame.Parse(r.buf)
	r.Clear()
	if err != nil || !fragmentable(m.User()) {
		return frame.Message{}, false, ErrFragment
	}
	return m, true, nil
}

func (r *Reassembly) fail() (frame.Message, bool, error) {
	r.Clear()
	return frame.Message{}, false, ErrFragment
}

// Clear drops what has come so far.
func (r *Reassembly) Clear() {
	r.pool.add(-cap(r.buf))
	r.buf, r.want = nil, 0
}

func fragmentable(u frame.User) bool {
	return u.IsPayload() || u == frame.UserConn || u == frame.UserGroup || u == frame.UserName
}
