// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"io"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
)

var linkVerb = verb{name: "link", short: "show and set links", subs: []*verb{
	{name: "list", short: "all links, and whether they are up", run: (*call).linkList},
	{name: "get", short: "show settings of links", subs: []*verb{
		{name: "priority", args: "link LINK", short: "0 to 31", run: func(c *call) error { return c.getLink(control.PropertyPriority) }},
		{name: "tolerance", args: "link LINK", short: "how long the peer may be silent, ms", run: func(c *call) error { return c.getLink(control.PropertyTolerance) }},
		{name: "window", args: "link LINK", short: "packets not acknowledged, now", run: func(c *call) error { return c.getLink(control.PropertyWindow) }},
		{name: "broadcast", short: "how multicast messages go", run: (*call).getBroadcast},
	}},
	{name: "set", short: "change settings of links", subs: []*verb{
		{name: "priority", args: "N link LINK", short: "1 to 31; the link restarts", run: func(c *call) error { return c.setLink(control.PropertyPriority) }},
		{name: "tolerance", args: "MS link LINK", short: "50 to 30000", run: func(c *call) error { return c.setLink(control.PropertyTolerance) }},
		{name: "window", args: "N link LINK", short: "packets at most, 50 to 8191", run: func(c *call) error { return c.setLink(control.PropertyWindow) }},
		{name: "broadcast", args: "{BROADCAST|REPLICAST|AUTOSELECT} [ratio N]", short: "how multicast messages go", run: (*call).setBroadcast},
	}},
	{name: "statistics", short: "show or reset what links have done", subs: []*verb{
		{name: "show", args: "[link {LINK|SUBSTRING|all}]", short: "of all links, or those", run: (*call).showStatistics},
		{name: "reset", args: "link LINK", short: "begin to count anew", run: (*call).resetStatistics},
	}},
	{name: "monitor", short: "show or set how neighbours are watched", subs: []*verb{
		{name: "set", short: "change it", subs: []*verb{
			{name: "threshold", args: "N", short: "nodes up to which each watches all", run: (*call).setThreshold},
		}},
		{name: "get", short: "show it", subs: []*verb{
			{name: "threshold", short: "nodes up to which each watches all", run: (*call).getThreshold},
		}},
		{name: "list", args: "[media MEDIA {device DEV|name NAME}]", short: "who is watched by whom", run: (*call).monitorList},
		{name: "summary", short: "a few figures by bearer", run: (*call).monitorSummary},
	}},
}}

// rows are the node's links with their names.
func (c *call) rows(n *stack.Node) ([]tipcshow.LinkRow, error) {
	all, err := n.Admin().Links(c.ctx)
	return tipcshow.LinkRows(all, n.Identity(), n.Addr()), err
}

func (c *call) linkList() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	all, err := c.rows(n)
	if err != nil {
		return err
	}
	return c.show(func(w io.Writer) { tipcshow.Links(w, all) }, func() any { return tipcshow.LinksJSON(all) })
}

// linkOption reads "link LINK".
func (c *call) linkOption() (string, error) {
	o, err := c.options("link")
	if err == nil && o["link"] == "" {
		err = said("missing link")
	}
	return o["link"], err
}
