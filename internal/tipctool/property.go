// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack"
)

// setProperty changes a property of a link, a bearer or a medium, as of says.
func (c *call) setProperty(n *stack.Node, of, name string, p control.Property, value int) error {
	return n.Admin().Call(c.ctx, "set-"+of+"-property", control.PropertyParams{Name: name, Property: p, Value: value}, nil)
}

// getProperty prints one.
func (c *call) getProperty(n *stack.Node, of, name string, p control.Property) error {
	var v int
	if err := n.Admin().Call(c.ctx, of+"-property", control.PropertyParams{Name: name, Property: p}, &v); err != nil {
		return err
	}
	return c.value(string(p), v)
}
