// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	_ "github.com/utipc/utipc/stack/carrier/udp" // registers "udp"
	"github.com/utipc/utipc/stack/internal/backend"
)

// OpenString makes a node of what text says, as a program's user writes it:
//
//	eth:IFACE            on an Ethernet interface; the program imports package xdp, if only as _
//	udp:IP[,TO...]       over UDP from an address of this host: to a multicast group or other
//	                     nodes, or, without TO, to the group of the network number
//	memory: memory:NAME  on a network within this process
//	attach: attach:PATH  at the daemon of this host, see Attach
//
// Options follow as in a URL, "udp:10.0.0.1?netid=4712&node=1.1.2":
//
//	netid=N        the cluster's number, 1 to 9999; Config.NetID
//	node=ADDR      the node's address; Config.Address
//	tolerance=D    how long a peer may be silent, as 500ms; Config.Tolerance
//	namewait=D     Config.NameWait, AttachConfig.NameWait
//	driver=NAME    of eth: auto, af_xdp or af_packet
//	if=IFACE mtu=N of udp: the interface for multicast, the longest message in bytes
//
// attach takes namewait alone. An empty text means that of $UTIPC_NODE, and when that is
// empty too, "attach:". Errors, inside *net.OpError: ErrConfig of a text that cannot be;
// those of Open, Attach and the device.
func OpenString(ctx context.Context, text string) (*Node, error) {
	return Config{}.OpenString(ctx, text)
}

// OpenString is stack.OpenString for what a text does not say, as keys and a Logger. What
// the text says replaces what c does; c's Bearers are opened too. Attached, c's NameWait
// counts, and nothing else may be set that is the daemon's.
func (c Config) OpenString(ctx context.Context, text string) (*Node, error) {
	text = cmp.Or(text, os.Getenv("UTIPC_NODE"), "attach:")
	scheme, t, err := c.parse(text)
	if err == nil && scheme == "attach" {
		return c.attachTo(ctx, text, t)
	}
	var dev Bearer
	if err == nil {
		dev, err = c.openBearer(scheme, t)
	}
	if err != nil {
		for _, b := range c.Bearers {
			b.Close()
		}
		return nil, textError(text, err)
	}
	c.Bearers = append([]Bearer{dev}, c.Bearers...)
	return Open(ctx, c)
}

func textError(text string, err error) error {
	return backend.OpError("open", "tipc", nil, nil, fmt.Errorf("%q: %w", text, err))
}

// parse takes a text apart, and into c what it says of the node.
func (c *Config) parse(text string) (scheme string, t *netdev.Text, err error) {
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok {
		return "", nil, fmt.Errorf("%w: want SCHEME:PLACE, e.g. attach: or memory: or udp:10.0.0.1", ErrConfig)
	}
	place, query, _ := strings.Cut(rest, "?")
	t = &netdev.Text{Place: place}
	if t.Options, err = url.ParseQuery(query); err != nil {
		return "", nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if scheme != "attach" {
		err = c.parseNode(t)
	}
	if v := t.Option("namewait"); v != "" && err == nil {
		if c.NameWait, err = time.ParseDuration(v); err != nil {
			err = fmt.Errorf("%w: namewait=%s is not a duration, as 5s", ErrConfig, v)
		}
	}
	t.NetID = cmp.Or(c.NetID, frame.DefaultNetID)
	return scheme, t, err
}

// parseNode takes the options of a node of this process.
func (c *Config) parseNode(t *netdev.Text) (err error) {
	if v := t.Option("netid"); v != "" {
		n, err := strconv.ParseUint(v, 10, 32)
		if err != nil || n < 1 || n > 9999 {
			return fmt.Errorf("%w: netid=%s is not in 1 to 9999", ErrConfig, v)
		}
		c.NetID = uint32(n)
	}
	if v := t.Option("node"); v != "" {
		if c.Address, err = ParseNodeAddr(v); err != nil || c.Address == 0 {
			return fmt.Errorf("%w: node=%s is not a node's address, as 1001002 or 1.1.2", ErrConfig, v)
		}
	}
	if v := t.Option("tolerance"); v != "" {
		if c.Tolerance, err = time.ParseDuration(v); err != nil {
			return fmt.Errorf("%w: tolerance=%s is not a duration, as 500ms", ErrConfig, v)
		}
	}
	return nil
}

// openBearer opens what a node speaks on.
func (c *Config) openBearer(scheme string, t *netdev.Text) (dev Bearer, err error) {
	if scheme == "memory" {
		dev, err = c.openMemory(t)
	} else if open, all := netdev.Registered(scheme); open != nil {
		dev, err = open(t)
	} else {
		why := "want one of attach, memory, " + strings.Join(all, ", ")
		if scheme == "eth" {
			why = `the program does not link the driver; import _ "github.com/utipc/utipc/xdp"`
		}
		return nil, fmt.Errorf("%w: unknown scheme %q: %s", ErrConfig, scheme, why)
	}
	if err != nil && t.Unknown() != nil {
		err = fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err != nil {
		return nil, err
	}
	return dev, nil
}

// attachTo is OpenString at a daemon.
func (c *Config) attachTo(ctx context.Context, text string, t *netdev.Text) (*Node, error) {
	err := t.Unknown()
	if err == nil && (len(c.Bearers) > 0 || c.Address != 0 || c.NetID != 0 || len(c.Encryption.Keys) > 0) {
		err = fmt.Errorf("bearers, address, network number and keys are the daemon's")
	}
	if err != nil {
		return nil, textError(text, fmt.Errorf("%w: %w", ErrConfig, err))
	}
	return AttachConfig{NameWait: c.NameWait}.Attach(ctx, t.Place)
}
