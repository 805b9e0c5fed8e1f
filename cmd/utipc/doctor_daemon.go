// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A daemonCheckup is what there is to say of this host's daemon.
type daemonCheckup struct {
	Socket  string          `json:"socket"`
	Unknown string          `json:"unknown,omitempty"` // why it cannot be asked
	Node    string          `json:"node,omitempty"`
	Bearers []bearerCheckup `json:"bearers"`
	Links   []linkCheckup   `json:"links"`              // those that the network does not serve
	Claimed *admin.Conflict `json:"conflict,omitempty"` // of the last conflictFor
}

// A linkCheckup is a link that the network does not serve.
type linkCheckup struct {
	Link     string `json:"link"`
	Impaired string `json:"impaired"`
	MTU      int    `json:"mtu"`
}

// conflictFor is how long a node that claims another's address is shown: it announces itself
// once a minute.
const conflictFor = 70 * time.Second

// A bearerCheckup is how a bearer stands.
type bearerCheckup struct {
	Bearer string    `json:"bearer"` // "eth:eth0"
	State  string    `json:"state"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason,omitempty"`
	Remedy string    `json:"mend,omitempty"`
	Above  string    `json:"above,omitempty"` // VLANs and macvlans on the interface
}

// examineDaemon asks the daemon at a socket; empty is the default one. It returns nil where
// there is none and nobody has named one.
func examineDaemon(ctx context.Context, socket string) *daemonCheckup {
	named := socket != "" || os.Getenv("UTIPC_SOCKET") != ""
	d := &daemonCheckup{Socket: cmp.Or(socket, os.Getenv("UTIPC_SOCKET"), defaultSocket), Bearers: []bearerCheckup{}, Links: []linkCheckup{}}
	ctx, cancel := context.WithTimeout(ctx, attachTimeout)
	defer cancel()
	n, err := stack.Attach(ctx, socket)
	switch {
	case err != nil && !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)):
		return nil
	case err != nil:
		d.Unknown = err.Error()
		return d
	}
	defer n.Close(ctx)
	d.Node = n.Addr().String()
	all, err := n.Admin().Bearers(ctx)
	if err != nil {
		d.Unknown = err.Error()
		return d
	}
	for _, b := range all {
		d.Bearers = append(d.Bearers, bearerCheckup{b.Medium + ":" + b.Name, b.State, b.Since, b.Reason, b.Remedy, b.Above})
	}
	links, err := n.Admin().Links(ctx)
	if err != nil {
		d.Unknown = err.Error()
		return d
	}
	for i := range links {
		if l := &links[i]; l.Impaired != "" {
			d.Links = append(d.Links, linkCheckup{l.Name, l.Impaired, l.MTU})
		}
	}
	stats, err := n.Admin().Stats(ctx)
	if err != nil {
		d.Unknown = err.Error()
		return d
	}
	if c := stats.Conflict; c.Node != 0 && c.Ago < conflictFor {
		d.Claimed = &c
	}
	return d
}

func (d *daemonCheckup) write(s *sheet, now time.Time) {
	s.line("socket", d.Socket)
	if d.Unknown != "" {
		s.line("node", "not known ("+d.Unknown+")")
		return
	}
	s.line("node", d.Node)
	if len(d.Bearers) == 0 {
		s.line("bearers", "none: name one in the settings, or use 'utipc bearer enable'")
	}
	for _, b := range d.Bearers {
		text := b.State
		if !b.Since.IsZero() {
			text += fmt.Sprintf(" for %v", now.Sub(b.Since).Round(time.Second))
		}
		if b.Reason != "" {
			text += ": " + b.Reason
		}
		s.line(b.Bearer, text)
		if b.Remedy != "" {
			s.advice([]advice{{"the bearer is back by itself after", b.Remedy}})
		}
		if b.Above != "" {
			first, _, _ := strings.Cut(b.Above, ",")
			s.line("above "+b.Bearer, b.Above)
			s.advice([]advice{{"their frames are not heard here; for nodes there, a bearer of its own", "utipc bearer enable media eth device " + first}})
		}
	}
	for _, l := range d.Links {
		s.line(l.Link, l.Impaired)
		s.advice([]advice{linkRemedy(l)})
	}
	if c := d.Claimed; c != nil {
		s.line("conflict", fmt.Sprintf("node %v is claimed by station %s on %s too, heard %v ago", c.Node, c.Station, c.Bearer, c.Ago.Round(time.Second)))
		s.advice([]advice{{"two nodes have one address or identity, or two clusters one network number", "utipc daemon --check, on that host: node.address, node.identity, node.netid"}})
	}
}

// linkRemedy says what to do about a link that the network does not serve.
func linkRemedy(l linkCheckup) advice {
	switch l.Impaired {
	case engine.MulticastIn.String():
		return advice{"a switch may not pass multicast on; until it does, on the peer", "utipc link set broadcast REPLICAST"}
	case engine.MulticastOut.String():
		return advice{"a switch may not pass multicast on; until it does", "utipc link set broadcast REPLICAST"}
	case engine.OneWay.String():
		return advice{"frames of this node may not reach the peer, or it has other keys; on the peer", "tcpdump -e -i IFACE ether proto 0x88ca"}
	}
	return advice{fmt.Sprintf("packets are %d bytes at most now; to have that from the start, set on both ends what the path carries", l.MTU), fmt.Sprintf("ip link set dev IFACE mtu %d", l.MTU)}
}
