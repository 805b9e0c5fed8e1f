// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"strings"
)

// A doctorVerdict is whether a node can run here and reach others, and what to do first if not.
type doctorVerdict struct {
	Ready bool   `json:"ready"`
	Says  string `json:"says"`
	First string `json:"first,omitempty"` // a command, where one helps
}

func (v doctorVerdict) String() string {
	switch {
	case v.Ready:
		return "ready: " + v.Says
	case v.First == "":
		return "not ready: " + v.Says
	}
	return "not ready: " + v.Says + "; first: " + v.First
}

// judge comes to the verdict. Each interface that is named has to serve a node, or be a bearer of the daemon that is
// up. Where none is named, a daemon is asked first, since it has the interfaces that it uses; without one, an interface that
// serves a node is enough.
func (r diagnosis) judge(named bool) doctorVerdict {
	d := r.Daemon
	switch {
	case d != nil && d.Unknown != "":
		return doctorVerdict{Says: fmt.Sprintf("the daemon at %s cannot be asked: %s", d.Socket, d.Unknown), First: "utipc daemon --check, then see its log"}
	case d != nil && !named:
		return d.judge(r.chosen())
	case len(r.Interfaces) == 0:
		return doctorVerdict{Says: "there is no Ethernet interface here", First: "utipc daemon --udp ADDRESS,PEER, which needs an IP network alone"}
	}
	var good, bad []string
	var worst *checkup
	for i := range r.Interfaces {
		c := &r.Interfaces[i]
		switch says, ok := c.serves(d); {
		case ok:
			good = append(good, says)
		default:
			bad = append(bad, c.Name)
			if worst == nil {
				worst = c
			}
		}
	}
	if len(good) > 0 && (!named || len(bad) == 0) {
		return doctorVerdict{Ready: true, Says: strings.Join(good, ", ")}
	}
	v := doctorVerdict{Says: fmt.Sprintf("no carrier can be chosen on %s", strings.Join(bad, ", "))}
	switch {
	case worst.Chosen != "":
		v.Says = worst.Name + " has no carrier"
	case worst.Unusable != "":
		v.Says += ": " + strings.TrimPrefix(worst.Unusable, "xdp: ")
	case len(worst.Refused) > 0:
		v.Says += ": " + worst.Refused[0].Reason
	}
	if len(worst.Advice) > 0 {
		v.First = worst.Advice[0].Remedy
		v.Says = withoutHint(v.Says, v.First)
	}
	return v
}

// withoutHint is a reason without its end, where that says what helps: "eth1 is down: bring it up: REMEDY".
func withoutHint(says, remedy string) string {
	before, _, has := strings.Cut(says, ": "+remedy)
	if i := strings.LastIndex(before, ": "); has && i > 0 {
		return before[:i]
	}
	return says
}

// serves reports whether a node can use the interface, and how; or that the daemon's does.
func (c *checkup) serves(d *daemonCheckup) (says string, ok bool) {
	if d != nil {
		for _, b := range d.Bearers {
			if b.Bearer == "eth:"+c.Name && b.State == "up" {
				return fmt.Sprintf("%s is a bearer of the daemon's node %s", c.Name, d.Node), true
			}
		}
	}
	reached := c.Facts == nil || c.Facts.Carrier
	return c.Chosen + " on " + c.Name, c.Chosen != "" && reached
}

// chosen is an interface that could be a bearer, or a word for one.
func (r diagnosis) chosen() string {
	for i := range r.Interfaces {
		if _, ok := r.Interfaces[i].serves(nil); ok {
			return r.Interfaces[i].Name
		}
	}
	return "IFACE"
}

// judge comes to the verdict on a daemon that answers; spare is an interface that it could use.
func (d *daemonCheckup) judge(spare string) doctorVerdict {
	up, remedy := 0, ""
	for _, b := range d.Bearers {
		if b.State == "up" {
			up++
		} else {
			remedy = cmp.Or(remedy, b.Remedy)
		}
	}
	switch {
	case up > 0:
		return doctorVerdict{Ready: true, Says: fmt.Sprintf("the daemon's node %s has %d of %d bearers up; programs attach to %s", d.Node, up, len(d.Bearers), d.Socket)}
	case len(d.Bearers) == 0:
		return doctorVerdict{Says: fmt.Sprintf("the daemon's node %s has no bearer", d.Node), First: "utipc bearer enable media eth device " + spare}
	}
	b := d.Bearers[0]
	return doctorVerdict{Says: strings.TrimSuffix(fmt.Sprintf("no bearer of the daemon's node %s is up: %s is %s, %s", d.Node, b.Bearer, b.State, b.Reason), ", "), First: cmp.Or(remedy, "utipc bearer list -v")}
}
