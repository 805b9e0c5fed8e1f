// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// print prints frame n of its file, seconds after the first, in whole.
func (d *decoder) print(n int, seconds float64, f layers.Frame) error {
	r := d.read(f)
	if d.json {
		_, err := fmt.Fprintf(d.out, "%s\n", d.object(n, seconds, f, r))
		return err
	}
	if d.name != "" {
		fmt.Fprintf(d.out, "%s:", d.name)
	}
	fmt.Fprintf(d.out, "%5d %11.6f %s%s", n, seconds, r.path, r.line)
	if f.Cut() {
		fmt.Fprintf(d.out, " (%d bytes captured of %d)", len(f.Data), f.Len)
	}
	_, err := fmt.Fprintln(d.out)
	if d.tree {
		for _, b := range [][]byte{r.sealed, r.message} {
			if b == nil {
				continue
			}
			_, tree, _ := strings.Cut(frame.Tree(b), "\n") // the line is there already
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

// object is the line of frame n that --json gives.
func (d *decoder) object(n int, seconds float64, f layers.Frame, r result) []byte {
	o := jsonObject(nil).addIf(d.name != "", "file", d.name).add("frame", n).
		raw("time", fmt.Appendf(nil, "%.6f", seconds))
	if len(f.Data) >= frame.EthernetLen && f.IsEthernet() {
		o = o.add("src", r.Src.String()).add("dst", r.Dst.String())
	}
	o = o.addIf(len(r.VLANs) > 0, "vlans", r.VLANs).addIf(r.UDP, "udp", true).
		addIf(f.Cut(), "bytes", f.Len).addIf(f.Cut(), "captured", len(f.Data)).
		add("class", r.class).add("summary", r.line)
	if r.sealed != nil {
		x, _ := frame.Dissect(r.sealed)
		o = o.raw("sealed", fieldsJSON(x.Fields))
	}
	if r.message != nil {
		x, _ := frame.Dissect(r.message)
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
