// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// pieces is a message that leaves in fragments.
type pieces struct {
	begun bool // heard from the beginning of a message
	under bool // its last fragment is still to come
	want  int  // bytes it says it has
	data  []byte
}

// fragment takes a packet that is a fragment, and returns the message it is the
// last of.
func (c *Conversation) fragment(p *pieces, f frame.Fragment) []byte {
	first := f.Type() == frame.FirstFragment
	if first == p.under {
		c.addIf(p.begun, "fragments", "w1 31:29", "%v while another message is under way: %v", f.Type(), p.under)
		if !first {
			return nil
		}
	}
	if first {
		*p = pieces{begun: true, under: true}
		if len(f.Data()) >= frame.ShortLen {
			p.want = frame.ClaimedSize(f.Data())
		}
	}
	p.data = append(p.data, f.Data()...)
	over := len(p.data) > max(p.want, frame.MaxMessage)
	if f.Type() != frame.LastFragment && !over {
		return nil
	}
	whole, want := p.data, p.want
	*p = pieces{begun: true}
	if len(whole) != want {
		c.add("fragment-total", "w0 16:0", "%d bytes, want %d", len(whole), want)
		return nil
	}
	return whole
}
