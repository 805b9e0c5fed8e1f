// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"syscall"

	"github.com/utipc/utipc/attach"
)

// ack ends that the node keeps a message that the program has read.
func (x *session) ack(h *attach.Header) error {
	p := x.port
	if p == nil {
		return x.answer(h, syscall.ENOTSOCK)
	}
	c := p.is().packet
	if c == nil {
		return x.answer(h, syscall.EOPNOTSUPP)
	}
	return x.answer(h, c.Ack(h.Wide))
}
