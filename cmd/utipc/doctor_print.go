// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/xdp"
)

// Columns of the report, in characters.
const (
	doctorLabel = 18 // where values begin
	doctorWidth = 88 // where lines are broken
)

// A sheet is a report being written: labels on the left, values on the right,
// long ones over several lines.
type sheet struct{ bytes.Buffer }

func (s *sheet) line(label, value string) {
	at := doctorLabel
	fmt.Fprintf(s, "  %-*s", doctorLabel-2, label)
	if len(label) > doctorLabel-3 {
		s.WriteString(" ")
		at = len(label) + 3
	}
	for i, word := range strings.Fields(value) {
		if n := len([]rune(word)); i > 0 && at+1+n > doctorWidth {
			fmt.Fprintf(s, "\n%*s", doctorLabel, "")
			at = doctorLabel + n
		} else {
			if i > 0 {
				s.WriteString(" ")
			}
			at += 1 + n
		}
		s.WriteString(word)
	}
	s.WriteString("\n")
}

// advice writes a shortcoming in sentences, and what mends it on a line of its own
// that is not broken, so that it can be copied.
func (s *sheet) advice(all []advice) {
	for i, a := range all {
		label := ""
		if i == 0 {
			label = "advice"
		}
		s.line(label, a.Says)
		fmt.Fprintf(s, "%*s  %s\n", doctorLabel, "", a.Remedy)
	}
}

// text is the report for people.
func (r diagnosis) text() []byte {
	var s sheet
	h := r.Host
	fmt.Fprintln(&s, "host")
	s.line("kernel", show(h.Kernel, func(k string) string { return "Linux " + k }))
	s.line("rights", show(h.Capabilities, rights))
	s.line("AF_PACKET", attempt(h.PacketSocket))
	s.line("AF_XDP", attempt(h.XDPSocket))
	s.line("XDP programs", attempt(h.XDPProgram))
	s.line("locked memory", show(h.LockedMemory, func(n int64) string {
		switch {
		case h.Capabilities.Known() && h.Capabilities.Value.IPCLock:
			return "any amount, by CAP_IPC_LOCK"
		case n < 0:
			return "any amount"
		}
		return fmt.Sprintf("%d KiB", n>>10)
	}))
	s.line("processors", show(h.CPUs, func(n int) string { return fmt.Sprintf("%d for this process", n) })+
		"; isolated: "+show(h.Isolated, orNone)+"; without tick: "+show(h.Tickless, orNone))
	s.line("processor quota", show(h.Quota, func(q xdp.Quota) string {
		if q.CPUs == 0 {
			return "none"
		}
		return fmt.Sprintf("%.2f processors (%s)", q.CPUs, q.File)
	}))
	module := "not loaded"
	if h.TIPCModule {
		module = "loaded"
	}
	s.line("kernel's tipc", module)
	s.advice(r.Advice)
	if r.Daemon != nil {
		fmt.Fprintln(&s, "\ndaemon")
		r.Daemon.write(&s, time.Now())
	}
	for _, c := range r.Interfaces {
		fmt.Fprintf(&s, "\n%s\n", c.Name)
		c.write(&s)
	}
	return s.Bytes()
}

func (c checkup) write(s *sheet) {
	if c.Facts != nil {
		writeLink(s, c)
	}
	switch {
	case c.Unusable != "":
		s.line("carrier", "none: "+strings.TrimPrefix(c.Unusable, "xdp: "))
	case c.Chosen == "":
		s.line("carrier", "none")
	default:
		s.line("carrier", c.Chosen)
		s.line("because", c.Reason)
		if len(c.Then) > 0 {
			s.line("should it fail", strings.Join(c.Then, ", then "))
		}
	}
	for _, x := range c.Costs {
		s.line(x.Method, "others: "+x.Others+"; the node: "+x.Ours)
	}
	for _, r := range c.Refused {
		s.line("refused", r.Method+": "+r.Reason)
	}
	s.advice(c.Advice)
}

func writeLink(s *sheet, c checkup) {
	l := *c.Facts
	state := "up, with carrier"
	switch {
	case !l.Up:
		state = "down"
	case !l.Carrier:
		state = "up, without carrier"
	}
	s.line("state", fmt.Sprintf("%s, MTU %d, %s", state, l.MTU, orNone(l.Address)))
	device := l.Kind
	switch {
	case l.Loopback:
		device = "loopback"
	case device == "":
		device = "network card"
	}
	s.line("device", device+"; driver: "+show(l.Driver, orNone))
	users := "no one but the node"
	if l.Users != "" {
		users = "others: " + l.Users
	}
	s.line("used by", users)
	s.line("native XDP", show(l.XDP, features))
	program := "none"
	if l.Program.Mode != "" {
		program = fmt.Sprintf("%s mode, id %d", l.Program.Mode, l.Program.ID)
	}
	s.line("XDP program", program)
	s.line("queues", show(l.Queues, func(q xdp.Sizes) string {
		return fmt.Sprintf("%d to receive, %d to send (at most %d, %d)", q.RX, q.TX, q.MaxRX, q.MaxTX)
	}))
	s.line("rings", show(l.Rings, func(q xdp.Sizes) string {
		return fmt.Sprintf("%d to receive, %d to send (at most %d, %d)", q.RX, q.TX, q.MaxRX, q.MaxTX)
	}))
	s.line("offloads", show(l.Offloads, func(o xdp.Offloads) string {
		return words("none", word{o.GRO, "GRO"}, word{o.LRO, "LRO"}, word{o.TSO, "TSO"}, word{o.VLAN, "VLAN tags taken out"})
	}))
	s.line("steering rules", show(l.Steering, func(n int) string { return orNone(strings.TrimPrefix(fmt.Sprint(n), "0")) }))
	if c.Arrival != "" {
		s.line("frames arrive", c.Arrival)
	}
}

// show writes a fact, or why it is not known.
func show[T any](f xdp.Fact[T], say func(T) string) string {
	if !f.Known() {
		return "not known (" + f.Unknown + ")"
	}
	return say(f.Value)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func attempt(t xdp.Trial) string {
	if t.Says == "" {
		return string(t.Result)
	}
	return fmt.Sprintf("%s (%s)", t.Result, t.Says)
}

// A word is said if it holds.
type word struct {
	holds bool
	says  string
}

func words(otherwise string, all ...word) string {
	var s []string
	for _, w := range all {
		if w.holds {
			s = append(s, w.says)
		}
	}
	if len(s) == 0 {
		return otherwise
	}
	return strings.Join(s, ", ")
}

func rights(c xdp.Capabilities) string {
	return words("none that matter", word{c.NetRaw, "CAP_NET_RAW"}, word{c.NetAdmin, "CAP_NET_ADMIN"}, word{c.BPF, "CAP_BPF"},
		word{c.SysAdmin, "CAP_SYS_ADMIN"}, word{c.IPCLock, "CAP_IPC_LOCK"})
}

func features(x xdp.Features) string {
	if !x.Native {
		return "no"
	}
	return "yes, " + words("no AF_XDP", word{x.Redirect, "AF_XDP"}, word{x.ZeroCopy, "zero-copy"},
		word{x.ZeroCopySegments > 1, fmt.Sprintf("in up to %d pieces", x.ZeroCopySegments)}, word{x.MultiBuffer, "frames longer than a page"})
}
