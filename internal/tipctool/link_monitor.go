// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"io"

	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
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
	return n.SetMonitorThreshold(int(v))
}

func (c *call) getThreshold() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.value("threshold", n.MonitorThreshold())
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
	var all []stack.Monitor
	for _, m := range n.Monitor() {
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
	all := n.Monitor()
	return c.show(func(w io.Writer) { tipcshow.MonitorSummary(w, all) }, func() any { return tipcshow.MonitorSummaryJSON(all) })
}
