// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"

	"github.com/utipc/utipc/internal/ranks"
	"github.com/utipc/utipc/stack"
)

// serviceType is the type of the slots' names.
const serviceType = 18905

// serveNames binds the server's slots to an active port.
func serveNames(ctx context.Context, p ranks.Place, n int) (end func(), err error) {
	first, count := 0, 0
	for slot := range slots {
		if serverOf(slot, servers(p.Ranks)) == n {
			if count == 0 {
				first = slot
			}
			count++
		}
	}
	s := newShard()
	port, err := p.Node.Handle(ctx, stack.Range{Type: serviceType, Lower: uint32(first), Upper: uint32(first + count - 1)},
		stack.HandlerFunc(func(w *stack.Reply, m *stack.Message) {
			if answer := s.reply(m.Data); answer != nil {
				w.Send(answer) // who cannot be answered is gone
			}
		}))
	if err != nil {
		return nil, err
	}
	return func() { port.Close() }, nil
}

// names calls slots by their names.
type names struct {
	ctx  context.Context
	node *stack.Node
	met  [slots]bool // slots that somebody is known to have
}

func newNames(ctx context.Context, p ranks.Place) *names { return &names{ctx: ctx, node: p.Node} }

func (c *names) call(slot int, ask, answer []byte) (int, error) {
	name := stack.Service{Type: serviceType, Instance: uint32(slot)}
	if !c.met[slot] {
		if err := c.node.WaitFor(c.ctx, name); err != nil {
			return 0, err
		}
		c.met[slot] = true
	}
	n, _, err := c.node.Call(c.ctx, name, ask, answer)
	return n, err
}
