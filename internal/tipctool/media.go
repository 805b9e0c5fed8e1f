// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack/admin"
)

var mediaVerb = verb{name: "media", short: "show and set what bearers begin with, by kind of network", subs: []*verb{
	{name: "list", short: "kinds of networks", run: (*call).mediaList},
	{name: "get", short: "show what bearers begin with", subs: []*verb{
		{name: "priority", args: "media MEDIA", short: "0 to 31", run: func(c *call) error { return c.getMedia(admin.PropertyPriority) }},
		{name: "tolerance", args: "media MEDIA", short: "how long peers may be silent, ms", run: func(c *call) error { return c.getMedia(admin.PropertyTolerance) }},
		{name: "window", args: "media MEDIA", short: "packets not acknowledged, at most", run: func(c *call) error { return c.getMedia(admin.PropertyWindow) }},
		{name: "mtu", args: "media MEDIA", short: "bytes of a message, of udp only", run: func(c *call) error { return c.getMedia(admin.PropertyMTU) }},
	}},
	{name: "set", short: "change what bearers begin with from now on", subs: []*verb{
		{name: "priority", args: "N media MEDIA", short: "1 to 31", run: func(c *call) error { return c.setMedia(admin.PropertyPriority) }},
		{name: "tolerance", args: "MS media MEDIA", short: "50 to 30000", run: func(c *call) error { return c.setMedia(admin.PropertyTolerance) }},
		{name: "window", args: "N media MEDIA", short: "packets at most, 50 to 8191", run: func(c *call) error { return c.setMedia(admin.PropertyWindow) }},
		{name: "mtu", args: "N media MEDIA", short: "bytes of a message, of udp only", run: func(c *call) error { return c.setMedia(admin.PropertyMTU) }},
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
func (c *call) mediaOption(p admin.Property) (string, error) {
	o, err := c.options("media")
	switch {
	case err != nil:
		return "", err
	case o["media"] == "":
		return "", said("missing media")
	case o["media"] == "eth" && p == admin.PropertyMTU:
		return "", errNoMTU
	}
	return o["media"], nil
}

func (c *call) getMedia(p admin.Property) error {
	media, err := c.mediaOption(p)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	v, err := n.Admin().MediumProperty(c.ctx, media, p)
	if err != nil {
		return err
	}
	return c.value(string(p), v)
}

func (c *call) setMedia(p admin.Property) error {
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
	return n.Admin().SetMediumProperty(c.ctx, media, p, int(v))
}
