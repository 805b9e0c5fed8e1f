// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/describe"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/frame/lint"
)

// A result is what was read of a frame.
type result struct {
	layers.Wrapping
	path    string // stations and tags, with a space behind
	line    string // the rest
	class   string // tipc, unknown, malformed or other
	message []byte // nil in another; of an opened one what was inside
	sealed  []byte // how an opened one came
	found   []lint.Finding
}

// read reads a frame and counts it.
func (d *decoder) read(f layers.Frame, p *part) (r result) {
	r.class = "other"
	if !f.IsEthernet() {
		r.line = fmt.Sprintf("- not Ethernet: link type %d, %d bytes", f.LinkType, f.Len)
		return r
	}
	data := f.Data
	if p != nil && p.Whole != nil {
		data = p.Whole
	}
	w, message, err := layers.Unwrap(data)
	r.Wrapping, r.path = w, wayOf(f, w)
	if p != nil {
		d.counts.fragments++
		switch {
		case p.Whole != nil:
			d.counts.joined++
			r.path += fmt.Sprintf("fragments=%d ", len(p.Frames))
		case p.err != nil:
			d.counts.refused++
		}
	}
	switch {
	case p != nil && p.Whole == nil:
		r.line = p.line()
		return r
	case errors.Is(err, frame.ErrNotTIPC):
		r.line = fmt.Sprintf("not TIPC: EtherType %04x, %d bytes", w.EtherType, f.Len)
		return r
	case err != nil:
		r.line = fmt.Sprintf("not read: EtherType %04x: %v", w.EtherType, err)
		return r
	case w.UDP:
		r.path += "udp "
	}
	d.message(&r, message)
	if d.lint {
		d.check(&r)
	}
	return r
}

// wayOf says between which stations a frame went and with which tags, with a space after it.
func wayOf(f layers.Frame, w layers.Wrapping) string {
	way := "- "
	if len(f.Data) >= frame.EthernetLen {
		to := "*"
		if w.Dst != frame.BroadcastMAC {
			to = w.Dst.String()
		}
		way = w.Src.String() + ">" + to + " "
	}
	for _, v := range w.VLANs {
		way += fmt.Sprintf("vlan=%d ", v)
	}
	return way
}

// message puts a message into r, opened if there is a key for it, and counts what it is.
func (d *decoder) message(r *result, message []byte) {
	r.message = message
	if r.message == nil {
		r.message = []byte{}
	}
	var err error
	r.line, err = describe.Message(message)
	if errors.Is(err, frame.ErrEncrypted) {
		if plain, ok := d.keys.open(r.Wrapping, message); ok {
			d.counts.opened++
			r.message, r.sealed = plain, message
			r.line, err = describe.Message(plain)
			r.line = sealedLine(message, r.line)
		} else {
			d.counts.sealed++
		}
	}
	switch {
	case err == nil, errors.Is(err, frame.ErrEncrypted):
		d.counts.tipc++
		r.class = "tipc"
	case errors.Is(err, frame.ErrUnknown):
		d.counts.unknown++
		r.class = "unknown"
	default:
		d.counts.malformed++
		r.class = "malformed"
	}
}
