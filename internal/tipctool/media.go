// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/tipcshow"
)

var mediaVerb = verb{name: "media", short: "show and set what bearers begin with, by kind of network", subs: []*verb{
	{name: "list", short: "kinds of networks", run: (*call).mediaList},
	{name: "get", short: "show what bearers begin with", subs: []*verb{
		{name: "priority", args: "media MEDIA", short: "0 to 31", run: func(c *call) error { return c.getMedia(control.PropertyPriority) }},
		{name: "tolerance", args: "media MEDIA", short: "how long peers may be silent, ms", run: func(c *call) error { return c.getMedia(control.PropertyTolerance) }},
		{name: "window", args: "media MEDIA", short: "packets not acknowledged, at most", run: func(c *call) error { return c.getMedia(control.PropertyWindow) }},
		{name: "mtu", args: "media MEDIA", short: "bytes of a message, of udp only", run: func(c *call) error { return c.getMedia(control.PropertyMTU) }},
	}},
	{name: "set", short: "change what bearers begin with from now on", subs: []*verb{
		{name: "priority", args: "N media MEDIA", short: "1 to 31", run: func(c *call) error { return c.setMedia(control.PropertyPriority) }},
		{name: "tolerance", args: "MS media MEDIA", short: "50 to 30000", run: func(c *call) error { return c.setMedia(control.PropertyTolerance) }},
		{name: "window", args: "N media MEDIA", short: "packets at most, 50 to 8191", run: func(c *call) error { return c.setMedia(control.PropertyWindow) }},
		{name: "mtu", args: "N media MEDIA", short: "bytes of a message, of udp only", run: func(c *call) error { return c.setMedia(control.PropertyMTU) }},
	}},
}}

func (c *call) mediaList() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	all, err := n.Admin().Media(c.ctx)
	if err != nil {
		return err
	}
	return c.show(func(w io.Writer) {
		for _, m := range all {
			fmt.Fprintln(w, m.Name)
		}
	}, func() any { return tipcshow.MediaJSON(all) })
}

// mediaOption reads "media MEDIA".
func (c *call) mediaOption(p control.Property) (string, error) {
	o, err := c.options("media")
	switch {
	case err != nil:
		return "", err
	case o["media"] == "":
		return "", said("missing media")
	case o["media"] == "eth" && p == control.PropertyMTU:
		return "", errNoMTU
	}
	return o["media"], nil
}

func (c *call) getMedia(p control.Property) error {
	media, err := c.mediaOption(p)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.getProperty(n, "medium", media, p)
}

func (c *call) setMedia(p control.Property) error {
	v, err := c.number(most)
	if err != nil {
		return err
	}
	media, err := c.mediaOption(p)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.setProperty(n, "medium", media, p, int(v))
}
