// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"io"

	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack/admin"
)

// mostThreshold is the largest threshold. Source: docs/spec/10-management.md §4.
const mostThreshold = 4095

func (c *call) setThreshold() error {
	v, err := c.number(mostThreshold)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().SetMonitorThreshold(c.ctx, int(v))
}

func (c *call) getThreshold() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	v, err := n.Admin().MonitorThreshold(c.ctx)
	if err != nil {
		return err
	}
	return c.value("threshold", v)
}

func (c *call) monitorList() error {
	b, err := c.bearerOption()
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	monitors, err := n.Admin().Monitor(c.ctx)
	if err != nil {
		return err
	}
	var all []admin.Monitor
	for _, m := range monitors {
		if b == "" || m.Bearer == b {
			all = append(all, m)
		}
	}
	return c.show(func(w io.Writer) { tipcshow.MonitorList(w, all) }, func() any { return tipcshow.MonitorListJSON(all) })
}

func (c *call) monitorSummary() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	all, err := n.Admin().Monitor(c.ctx)
	if err != nil {
		return err
	}
	return c.show(func(w io.Writer) { tipcshow.MonitorSummary(w, all) }, func() any { return tipcshow.MonitorSummaryJSON(all) })
}
