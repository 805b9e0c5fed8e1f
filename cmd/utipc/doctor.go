// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/xdp"
)

var doctorCommand = cmdline.Command{
	Name:  "doctor",
	Short: "what this host and its interfaces can do, and what to mend",
	Usage: `utipc doctor: what this host and its Ethernet interfaces can do for TIPC, which
carrier would be chosen on each and why, what each choice costs others who use the
interface and the node, and the command that mends each shortcoming; and how the bearers of the host's daemon stand, if there is one.

    utipc doctor [--json] [--socket PATH] [IFACE...]

Without IFACE it looks at all Ethernet interfaces of the network namespace. It
only looks: no interface is changed, no program attached, and the kernel's tipc
module not loaded. What it finds depends on its rights: run it as the user the
node will run as.

The last line is the verdict: "ready: " and why, or "not ready: ", what is missing and what
to do first. Ready means that every interface named can serve a node or is a bearer of the
daemon that is up; where none is named, that a bearer of the daemon is up or, without a daemon,
that one interface can serve a node. The exit status is 0 when it is ready, else 1.

{flags}

    utipc doctor eth1
`,
	Run: func(ctx context.Context, args []string, std cmdline.Stdio) error {
		f := cmdline.NewFlags("doctor")
		asJSON := f.Bool("json", false, "the same for programs; each fact is {\"value\": ...} or {\"unknown\": \"why\"}")
		socket := f.String("socket PATH", "", "the daemon's socket (default: $UTIPC_SOCKET, else "+defaultSocket+")")
		names, err := cmdline.Parse(f, args, 0, -1)
		if err != nil {
			return err
		}
		for _, n := range names {
			if strings.HasPrefix(n, "-") {
				return cmdline.UsageError("flags stand before the arguments")
			}
		}
		r, err := examine(names)
		if err != nil {
			return err
		}
		r.Daemon = examineDaemon(ctx, *socket)
		r.Verdict = r.judge(len(names) > 0)
		if *asJSON {
			e := json.NewEncoder(std.Out)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			err = e.Encode(r)
		} else if _, err = std.Out.Write(append(r.text(), '\n')); err == nil {
			style := good
			if !r.Verdict.Ready {
				style = bad
			}
			err = inkOf(std).line(std, style, r.Verdict.String())
		}
		if err != nil {
			return err
		}
		if !r.Verdict.Ready {
			return cmdline.Status(cmdline.Failed)
		}
		return nil
	},
}

// A diagnosis is what the doctor has to say.
type diagnosis struct {
	Host       xdp.Host       `json:"host"`
	Advice     []advice       `json:"advice"` // on the host
	Daemon     *daemonCheckup `json:"daemon,omitempty"`
	Interfaces []checkup      `json:"interfaces"`
	Verdict    doctorVerdict  `json:"verdict"`
}

// A checkup is what there is to say of one interface.
type checkup struct {
	Name     string    `json:"name"`
	Facts    *xdp.Link `json:"facts,omitempty"`    // none when it does not exist
	Unusable string    `json:"unusable,omitempty"` // why no carrier can be had at all
	Device   string    `json:"device,omitempty"`   // its sort
	Chosen   string    `json:"chosen,omitempty"`   // the carrier; empty: none
	Reason   string    `json:"reason,omitempty"`   // why that is first
	Then     []string  `json:"then"`               // what is tried next, should the chosen one fail
	Costs    []costs   `json:"costs"`              // of each carrier that can be had
	Refused  []refused `json:"refused"`
	Arrival  string    `json:"arrival,omitempty"` // where frames of TIPC arrive
	Advice   []advice  `json:"advice"`
}

// A costs is what a carrier costs both who use an interface.
type costs struct {
	Method string `json:"way"`
	Takes  bool   `json:"takes_offloads"` // of the TCP of others
	Others string `json:"others"`
	Ours   string `json:"ours"`
}

// A refused is a carrier that would not be tried.
type refused struct {
	Method string `json:"way"`
	Reason string `json:"reason"`
	Remedy string `json:"mend,omitempty"`
}

// An advice is a shortcoming and what mends it.
type advice struct {
	Says   string `json:"says"`
	Remedy string `json:"mend"`
}

// examine looks at the interfaces of those names, all Ethernet ones without a name.
func examine(names []string) (diagnosis, error) {
	r := diagnosis{Host: xdp.ProbeHost(), Interfaces: []checkup{}}
	r.Advice = hostAdvice(r.Host)
	if len(names) == 0 {
		var err error
		if names, err = xdp.Interfaces(); err != nil {
			return r, err
		}
	}
	for _, n := range names {
		l, err := xdp.ProbeLink(n)
		if err != nil {
			c := newCheckup(n)
			c.Unusable = err.Error()
			if !errors.Is(err, xdp.ErrMissing) {
				c.Unusable = "cannot be looked at: " + c.Unusable
			}
			r.Interfaces = append(r.Interfaces, c)
			continue
		}
		r.Interfaces = append(r.Interfaces, checkUp(xdp.Facts{Host: r.Host, Link: l}))
	}
	return r, nil
}

// newCheckup is a checkup whose lists are empty, and not null in JSON.
func newCheckup(name string) checkup {
	return checkup{Name: name, Then: []string{}, Costs: []costs{}, Refused: []refused{}, Advice: []advice{}}
}

// checkUp says what follows from the facts.
func checkUp(f xdp.Facts) checkup {
	p := f.Choose(xdp.Config{})
	c := newCheckup(f.Link.Name)
	c.Facts, c.Device, c.Advice = &f.Link, p.Device, linkAdvice(f, p)
	if p.Unusable != nil {
		c.Unusable = p.Unusable.Error()
		return c
	}
	for _, r := range p.Refused {
		c.Refused = append(c.Refused, refused{r.Method.String(), r.Reason, r.Remedy})
	}
	for _, w := range p.Methods {
		x := f.Link.Cost(w)
		c.Costs = append(c.Costs, costs{w.String(), x.Takes, x.Others, x.Ours})
	}
	w, ok := p.Chosen()
	if !ok {
		return c
	}
	c.Chosen, c.Reason = w.String(), p.Reason
	for _, w := range p.Methods[1:] {
		c.Then = append(c.Then, w.String())
	}
	if w.Driver == xdp.AFPacket {
		c.Arrival = "on any queue: AF_PACKET hears all"
		return c
	}
	queue, why := f.Link.Arrival(w.Mode)
	c.Arrival = fmt.Sprintf("on queue %d: %s", queue, why)
	if queue < 0 {
		c.Arrival = "not known on which queue: " + why
	}
	return c
}
