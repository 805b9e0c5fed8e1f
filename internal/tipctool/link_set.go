// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"fmt"
	"io"
	"syscall"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack/admin"
)

// setLink changes a setting of a link.
func (c *call) setLink(p control.Property) error {
	v, err := c.number(most)
	if err != nil {
		return err
	}
	name, err := c.linkOption()
	switch {
	case err != nil:
		return err
	case name == tipcshow.BroadcastLink && p != control.PropertyWindow:
		return errNotSupported
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.setProperty(n, "link", name, p, int(v))
}

// getLink prints a setting of a link.
func (c *call) getLink(p control.Property) error {
	name, err := c.linkOption()
	switch {
	case err != nil:
		return err
	case name == tipcshow.BroadcastLink && p != control.PropertyWindow:
		return errNotSupported
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.getProperty(n, "link", name, p)
}

var errNotSupported = &admin.Refusal{Errno: syscall.EOPNOTSUPP}

func (c *call) getBroadcast() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	m, err := n.Admin().BroadcastMethod(c.ctx)
	if err != nil {
		return err
	}
	auto := m.Method == "AUTOSELECT"
	return c.show(func(w io.Writer) {
		if auto {
			fmt.Fprintf(w, "%s ratio:%d\n", m.Method, m.Ratio)
			return
		}
		fmt.Fprintln(w, m.Method)
	}, func() any {
		a := tipcshow.Array{tipcshow.Object{{Name: "method", Value: m.Method}}}
		if auto {
			a = append(a, tipcshow.Object{{Name: "ratio", Value: m.Ratio}})
		}
		return a
	})
}

// setBroadcast reads a method, of which the ratio may stand alone.
func (c *call) setBroadcast() error {
	var m admin.BroadcastMethod
	ratio := false
	for len(c.rest) > 0 {
		word := c.rest[0]
		c.rest = c.rest[1:]
		switch {
		case word == "BROADCAST" || word == "REPLICAST" || word == "AUTOSELECT":
			m.Method = word
		case c.key([]string{"ratio"}, word) != "":
			if len(c.rest) == 0 {
				return said("missing value")
			}
			v, err := c.number(100)
			if err == nil && v == 0 {
				err = errInvalid
			}
			if err != nil {
				return err
			}
			m.Ratio, ratio = int(v), true
		default:
			return said("invalid option %q", word)
		}
	}
	if m.Method == "" && !ratio {
		return c.usage()
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	if m.Method == "" {
		now, err := n.Admin().BroadcastMethod(c.ctx)
		if err != nil {
			return err
		}
		m.Method = now.Method
	}
	return n.Admin().SetBroadcastMethod(c.ctx, m)
}

func (c *call) resetStatistics() error {
	if len(c.rest) == 0 {
		return c.usage()
	}
	if c.key([]string{"link"}, c.rest[0]) == "" {
		return c.usageBehind(said("invalid option %q", c.rest[0]))
	}
	name, err := c.linkOption()
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().ResetStatistics(c.ctx, name)
}
