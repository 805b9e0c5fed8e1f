// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/conversation"
	"github.com/utipc/utipc/frame/dissect"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/internal/printable"
)

// print prints frame n of its file, so long after the first, in whole.
func (d *decoder) print(n int, since time.Duration, f layers.Frame, p *part) error {
	r := d.read(f, p)
	seconds := since.Seconds()
	var v *conversation.Verdict
	if d.tracker != nil {
		v = d.follows(n, since, f, r, p)
		if v == nil && !d.filter.empty() || v != nil && !d.filter.passes(r.Wrapping, v) {
			return nil
		}
		d.counts.shown++
	}
	switch {
	case d.stats:
		return nil
	case d.json:
		_, err := fmt.Fprintf(d.out, "%s\n", d.object(n, seconds, f, r, v, p))
		return err
	case d.ladder && v == nil:
		return nil
	case d.ladder:
		return d.drawing.add(rungOf(n, seconds, r.message, v, f.Comment), v)
	}
	if d.name != "" {
		fmt.Fprintf(d.out, "%s:", d.name)
	}
	fmt.Fprintf(d.out, "%5d %11.6f %s%s", n, seconds, r.path, r.line)
	if f.Cut() {
		fmt.Fprintf(d.out, " (%d bytes captured of %d)", len(f.Data), f.Len)
	}
	if f.Comment != "" {
		fmt.Fprintf(d.out, " (%s)", printable.Text(f.Comment))
	}
	_, err := fmt.Fprintln(d.out)
	if d.tree {
		for _, b := range [][]byte{r.sealed, r.message} {
			if b == nil {
				continue
			}
			_, tree, _ := strings.Cut(dissect.Tree(b), "\n") // the line is there already
			for l := range strings.Lines(tree) {
				_, err = fmt.Fprintf(d.out, "%16s%s", "", l)
			}
		}
	}
	for _, x := range r.found {
		word := "lint"
		if x.Habit() != "" {
			word = "habit"
		}
		_, err = fmt.Fprintf(d.out, "%18s%s %v\n", "", word, x)
	}
	return err
}

// follows tells the tracker of a frame. It returns nil when there is no TIPC to read in
// it.
func (d *decoder) follows(n int, since time.Duration, f layers.Frame, r result, whole *part) *conversation.Verdict {
	if r.class != "tipc" {
		return nil
	}
	p := conversation.Packet{Number: n, Time: since, Len: f.Len, Message: r.message, Lost: lostBy(f.Comment)}
	if whole != nil {
		p.Len = whole.Bytes
	}
	if r.UDP {
		p.Src.IP, p.Dst.IP = r.From, r.To
	} else {
		p.Src.MAC, p.Dst.MAC = r.Src, r.Dst
	}
	v := d.tracker.Add(p)
	return &v
}

// object is the line of frame n that --json gives.
func (d *decoder) object(n int, seconds float64, f layers.Frame, r result, v *conversation.Verdict, p *part) []byte {
	o := jsonObject(nil).addIf(d.name != "", "file", d.name).add("frame", n).
		raw("time", fmt.Appendf(nil, "%.6f", seconds))
	if len(f.Data) >= frame.EthernetLen && f.IsEthernet() {
		o = o.add("src", r.Src.String()).add("dst", r.Dst.String())
	}
	o = o.addIf(len(r.VLANs) > 0, "vlans", r.VLANs).addIf(r.UDP, "udp", true).
		addIf(p != nil && p.Whole != nil, "fragments", p.frames()).
		addIf(f.Cut(), "bytes", f.Len).addIf(f.Cut(), "captured", len(f.Data)).
		addIf(f.Comment != "", "comment", f.Comment).
		addIf(f.Direction != layers.UnknownDirection, "direction", f.Direction.String()).
		add("class", r.class).add("summary", r.line)
	if d.ladder && v != nil {
		o = o.raw("ladder", jsonObject(nil).add("from", v.From.String()).addIf(v.To != 0 && !v.Broadcast, "to", v.To.String()).
			add("label", labelOf(r.message, v).String()).add("sequence", v.Class.String()).
			addIf(v.Repeats > 0, "repeats", v.Repeats).addIf(v.Skipped > 0, "skipped", v.Skipped).
			addIf(v.Reported > 0, "reported", v.Reported).addIf(v.Acked > 0, "acked", v.Acked).bytes())
	}
	if r.sealed != nil {
		x, _ := dissect.Message(r.sealed)
		o = o.raw("sealed", fieldsJSON(x.Fields))
	}
	if r.message != nil {
		x, _ := dissect.Message(r.message)
		o = o.raw("message", fieldsJSON(x.Fields))
	}
	if len(r.found) > 0 {
		list := []byte{'['}
		for i, x := range r.found {
			if i > 0 {
				list = append(list, ',')
			}
			list = append(list, jsonObject(nil).add("rule", x.Rule).add("where", x.Where).add("text", x.Text).
				addIf(x.Habit() != "", "habit", x.Habit()).bytes()...)
		}
		o = o.raw("lint", append(list, ']'))
	}
	return o.bytes()
}
