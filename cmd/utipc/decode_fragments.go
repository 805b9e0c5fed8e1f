// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame/layers"
)

// namedIncomplete is how many datagrams that were never whole are named at the end. All
// are counted.
const namedIncomplete = 16

// A part is a frame that carries a fragment of an IP datagram.
type part struct {
	layers.Piece
	err error // what is wrong with it
}

// An incomplete is a datagram of a file of which fragments are missing.
type incomplete struct {
	file string // when there are several
	layers.Incomplete
}

func (x incomplete) String() string {
	s := "incomplete: "
	if x.file != "" {
		s = x.file + ": " + s
	}
	s += fmt.Sprintf("%v, %d", x.DatagramID, x.Got)
	if x.Of > 0 {
		s += fmt.Sprintf(" of %d", x.Of)
	}
	s += fmt.Sprintf(" bytes in frame %d", x.Frames[0])
	if last := len(x.Frames) - 1; last > 0 {
		s += fmt.Sprintf(" to %d", x.Frames[last])
	}
	return s
}

func (x incomplete) json() []byte {
	return jsonObject(nil).addIf(x.file != "", "file", x.file).add("from", x.From.String()).add("to", x.To.String()).
		add("id", x.ID).add("bytes", x.Got).addIf(x.Of > 0, "of", x.Of).add("frames", x.Frames).bytes()
}

// newJoiner returns what puts the datagrams of a file together.
func (d *decoder) newJoiner() *layers.Joiner {
	return &layers.Joiner{Incomplete: func(x layers.Incomplete) {
		d.counts.incomplete++
		if len(d.incomplete) < namedIncomplete {
			d.incomplete = append(d.incomplete, incomplete{d.name, x})
		}
	}}
}

// join gives frame n to the joiner when it carries a fragment. It returns nil when it does
// not.
func (d *decoder) join(n int, f layers.Frame) *part {
	if !f.IsEthernet() {
		return nil
	}
	if _, _, err := layers.Unwrap(f.Data); err != layers.ErrFragment {
		return nil
	}
	piece, err := d.joiner.Add(n, f)
	return &part{piece, err}
}

// line is what is said of a fragment that makes no datagram whole.
func (p *part) line() string {
	if p.err != nil && !errors.Is(p.err, layers.ErrOverlap) {
		return fmt.Sprintf("fragment not read: %v", p.err)
	}
	s := fmt.Sprintf("fragment %d-%d of %v", p.At, p.At+p.Len-1, p.DatagramID)
	switch {
	case p.err != nil:
		s += ", refused: it contradicts others"
	case p.Again:
		s += ", again"
	}
	return s
}

// frames are those of the datagram that a fragment made whole.
func (p *part) frames() []int {
	if p == nil {
		return nil
	}
	return p.Frames
}
