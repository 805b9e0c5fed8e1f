// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"syscall"

	"github.com/utipc/utipc/attach"
)

// A gather is a request that comes in several records.
type gather struct {
	attach.Join
	open    bool
	op      attach.Op
	id      uint32
	charged int
	err     error // why it is read in vain
}

func (g *gather) drop(c *client) {
	c.release(queuedBytes, g.charged)
	*g = gather{}
}

// gathered adds a record to the request it belongs to; done when that is complete.
// Errors: errBroken; those of a request are told by its answer.
func (x *session) gathered(h *attach.Header, data []byte) (verb string, in []byte, done bool, err error) {
	g := &x.gather
	if g.open && (g.op != h.Op || g.id != h.ID) {
		return "", nil, false, errBroken
	}
	more := h.Flags&attach.FlagMore != 0
	if !g.open && more {
		g.open, g.op, g.id = true, h.Op, h.ID
	}
	if more && g.err == nil {
		if g.err = x.charge(queuedBytes, len(data)); g.err == nil {
			g.charged += len(data)
		}
	}
	var all []byte
	if g.err == nil {
		if all, _, err = g.Add(h, data, attach.MaxRequest); err != nil {
			g.err = syscall.EMSGSIZE
		}
	}
	if more {
		return "", nil, false, nil
	}
	err = g.err
	g.drop(x.client)
	if err != nil {
		return "", nil, false, x.answer(h, err)
	}
	if verb, in, err = attach.ParseCall(all); err != nil {
		return "", nil, false, x.answer(h, syscall.EINVAL)
	}
	return verb, append([]byte(nil), in...), true, nil
}
