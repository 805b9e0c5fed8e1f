// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"context"
	"io"
	"net/netip"
	"syscall"

	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack/admin"
)

const bearerArgs = "media MEDIA {device DEV|name NAME}"

var bearerVerb = verb{name: "bearer", short: "show bearers, enable and disable them, change their settings", subs: []*verb{
	{name: "add", short: "add something to a bearer", subs: []*verb{
		{name: "media", args: "udp name NAME remoteip IP", short: "one more host to speak to", run: (*call).addRemote},
	}},
	{name: "remove", short: "remove something from a bearer", subs: []*verb{
		{name: "media", args: "udp name NAME remoteip IP", short: "a host to speak to no more", run: (*call).removeRemote},
	}},
	{
		name: "enable", args: "[domain D] [priority N] media {eth device DEV [driver D]|udp name NAME {localip IP|device DEV} [localport N] [remoteip IP] [remoteport N]}",
		short: "begin to speak TIPC on a network", run: (*call).enableBearer,
	},
	{name: "disable", args: bearerArgs, short: "end that", run: (*call).disableBearer},
	{name: "set", short: "change settings of a bearer and its links", subs: []*verb{
		{name: "priority", args: "N " + bearerArgs, short: "1 to 31", run: func(c *call) error { return c.setBearer(control.PropertyPriority) }},
		{name: "tolerance", args: "MS " + bearerArgs, short: "50 to 30000", run: func(c *call) error { return c.setBearer(control.PropertyTolerance) }},
		{name: "window", args: "N " + bearerArgs, short: "packets at most, 50 to 8191", run: func(c *call) error { return c.setBearer(control.PropertyWindow) }},
		{name: "mtu", args: "N " + bearerArgs, short: "bytes of a message, of udp only", run: func(c *call) error { return c.setBearer(control.PropertyMTU) }},
	}},
	{name: "get", short: "show settings of a bearer", subs: []*verb{
		{name: "priority", args: bearerArgs, short: "0 to 31", run: func(c *call) error { return c.getBearer(control.PropertyPriority) }},
		{name: "tolerance", args: bearerArgs, short: "how long peers may be silent, ms", run: func(c *call) error { return c.getBearer(control.PropertyTolerance) }},
		{name: "window", args: bearerArgs, short: "packets not acknowledged, at most", run: func(c *call) error { return c.getBearer(control.PropertyWindow) }},
		{name: "mtu", args: bearerArgs, short: "bytes of a message, of udp only", run: func(c *call) error { return c.getBearer(control.PropertyMTU) }},
		{name: "media", args: "udp name NAME {localip|localport|remoteip|remoteport}", short: "an end of a bearer over UDP", run: (*call).getEnd},
	}},
	{name: "list", args: "[-v]", short: "all bearers, with how they stand and why", run: (*call).bearerList},
}}

func (c *call) bearerList() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	all, err := n.Admin().Bearers(c.ctx)
	if err != nil {
		return err
	}
	show := tipcshow.Bearers
	if c.Verbose {
		show = tipcshow.BearerStates
	}
	return c.show(func(w io.Writer) { show(w, all) }, func() any { return tipcshow.BearersJSON(all) })
}

// bearerOption reads "media MEDIA {device DEV|name NAME}" and returns the bearer's name,
// as "eth:eth0"; "" without a medium.
func (c *call) bearerOption() (string, error) {
	o, err := c.options("media", "device", "name")
	if err != nil || o["media"] == "" {
		return "", err
	}
	return bearerName(o)
}

// bearerName is the name of the bearer that options tell.
func bearerName(o map[string]string) (string, error) {
	media := o["media"]
	key, err := nameKey(media)
	switch {
	case err != nil:
		return "", err
	case o[key] == "":
		return "", said("missing bearer %s", key)
	}
	return media + ":" + o[key], nil
}

// nameKey is the option that has a bearer's name.
func nameKey(media string) (string, error) {
	switch media {
	case "":
		return "", said("missing bearer media")
	case "eth":
		return "device", nil
	case "udp":
		return "name", nil
	}
	return "", said("invalid media type %s", printable.Prefix(media, 32))
}

// theBearer reads the same where it must be there.
func (c *call) theBearer() (string, error) {
	name, err := c.bearerOption()
	if err == nil && name == "" {
		err = said("missing bearer media")
	}
	return name, err
}

func (c *call) disableBearer() error {
	name, err := c.theBearer()
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().DisableBearer(c.ctx, name)
}

// most is a value that no setting has.
const most = 1 << 20

func (c *call) setBearer(p control.Property) error {
	v, err := c.number(most)
	if err != nil {
		return err
	}
	name, err := c.theBearer()
	switch {
	case err != nil:
		return err
	case p == control.PropertyMTU && name[:3] == "eth":
		return errNoMTU
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.setProperty(n, "bearer", name, p, int(v))
}

var (
	errNoMTU    = said("not supported for media")
	errNoBearer = &admin.Refusal{Errno: syscall.EINVAL, Reason: "Bearer not found."}
)

func (c *call) getBearer(p control.Property) error {
	name, err := c.theBearer()
	switch {
	case err != nil:
		return err
	case p == control.PropertyMTU && name[:3] == "eth":
		return errNoMTU
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return c.getProperty(n, "bearer", name, p)
}

// udpName reads what stands behind "media": "udp name NAME", and one more word.
func (c *call) udpName(what string) (name, last string, err error) {
	media, err := c.next()
	switch {
	case err != nil:
		return "", "", said("missing media value")
	case len(c.rest) > 0 && c.key([]string{"name"}, c.rest[0]) == "":
		return "", "", said("invalid option %q", c.rest[0])
	case media != "udp":
		return "", "", said("no %q media specific options%s", printable.Prefix(media, 32), what)
	case len(c.rest) < 2:
		return "", "", said("missing media name")
	}
	if name = c.rest[1]; len(c.rest) > 2 {
		last = c.rest[2]
	}
	c.rest = c.rest[2:]
	return "udp:" + name, last, nil
}

func (c *call) getEnd() error {
	ends := []string{"localip", "localport", "remoteip", "remoteport"}
	name, what, err := c.udpName("")
	switch {
	case err != nil:
		return err
	case what == "":
		return said("missing UDP option")
	}
	key := c.key(ends, what)
	if key == "" {
		return said("invalid option %q", what)
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	all, err := n.Admin().Bearers(c.ctx)
	if err != nil {
		return err
	}
	for _, b := range all {
		if tipcshow.BearerName(&b) != name {
			continue
		}
		switch key {
		case "localip":
			return c.value(key, b.Local.Addr().String())
		case "localport":
			return c.value(key, b.Local.Port())
		case "remoteip":
			return c.value(key, b.Remote.Addr().String())
		}
		return c.value(key, b.Remote.Port())
	}
	return errNoBearer
}

func (c *call) addRemote() error { return c.remote((*admin.Admin).AddRemote) }

func (c *call) removeRemote() error { return c.remote((*admin.Admin).RemoveRemote) }

// remote changes who gets the broadcasts of a bearer over UDP.
func (c *call) remote(change func(a *admin.Admin, ctx context.Context, bearer string, remote netip.AddrPort) error) error {
	name, last, err := c.udpName(" available")
	if err != nil {
		return err
	}
	if last != "" && c.key([]string{"remoteip"}, last) == "" {
		return said("invalid option %q", last)
	}
	if len(c.rest) < 2 {
		return said("missing remoteip")
	}
	ip, err := address(c.rest[1])
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return change(n.Admin(), c.ctx, name, netip.AddrPortFrom(ip, 0))
}
