// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// A Frame is a recorded frame that carries TIPC: over Ethernet, or over UDP, as
// the device of a UDP bearer shows it to the engine.
type Frame struct {
	No       int           // in the file, from 1
	At       time.Duration // since the file's first frame
	Src, Dst frame.MAC
	Data     []byte        // Ethernet header without tags, message; no padding, no IP or UDP header
	Message  frame.Message // zero when the frame is Cut or does not parse
	Cut      bool          // the capture holds less than the frame
	Bad      error         // why it does not parse
	Sealed   *Envelope     // nil: it travelled plain, or nobody has opened it

	bearer int // of the node that is replayed, which sent it or is to get it
}

// A Capture is a recorded conversation.
type Capture struct {
	Frames []Frame
	End    time.Duration // of the file's last frame, whatever it carries
	Total  int           // frames in the file

	// UDP has the address behind each station when the capture is of TIPC over
	// UDP; nil: it is of Ethernet.
	UDP   map[frame.MAC]netip.AddrPort
	Notes []string // what of the file was left out or changed, and why
}

// ReadFile reads a capture, pcap or pcapng. Errors: as Read, and those of opening
// the file.
func ReadFile(name string) (*Capture, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f)
}

// Read reads a capture. What it cannot use is told in Notes: a file cut short,
// frames cut short, VLAN tags, other protocols, UDP beside Ethernet. A datagram in
// fragments counts as the frame of the fragment that makes it whole. Errors: those of
// layers.NewReader.
func Read(in io.Reader) (*Capture, error) {
	r, err := layers.NewReader(in)
	if err != nil {
		return nil, err
	}
	c := &Capture{}
	var first time.Time
	var cut, tagged, bad, other, udp, pieces, encrypted tally
	var fragments layers.Joiner
	var overUDP []bool // for each of Frames
	addrs := map[frame.MAC]netip.AddrPort{}
	for {
		f, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			c.Notes = append(c.Notes, fmt.Sprintf("the file ends behind frame %d: %v", c.Total, err))
			break
		}
		if c.Total++; c.Total == 1 {
			first = f.Time
		}
		c.End = max(c.End, f.Time.Sub(first)) // a clock may be set back
		if !f.IsEthernet() {
			other.add(c.Total)
			continue
		}
		w, m, err := layers.Unwrap(f.Data)
		if errors.Is(err, layers.ErrFragment) {
			pieces.add(c.Total)
			p, joinErr := fragments.Add(c.Total, f)
			if joinErr != nil || p.Whole == nil {
				continue
			}
			f.Data, f.Len = p.Whole, len(p.Whole)
			w, m, err = layers.Unwrap(f.Data)
		}
		if err != nil {
			other.add(c.Total)
			continue
		}
		if w.UDP {
			udp.add(c.Total)
			if from, ok := sender(f.Data, w); ok {
				addrs[w.Src] = from
			}
			if w.Dst.IsGroup() {
				w.Dst = frame.BroadcastMAC
			}
		}
		overUDP = append(overUDP, w.UDP)
		g := Frame{No: c.Total, At: c.End, Src: w.Src, Dst: w.Dst, Cut: f.Cut()}
		g.Message, g.Bad = frame.Parse(m)
		if g.Bad == nil {
			m = g.Message.Bytes()
			g.Cut = false // padding alone was left out
		}
		g.Data = make([]byte, frame.EthernetLen, frame.EthernetLen+len(m))
		frame.PutEthernet(g.Data, w.Dst, w.Src)
		g.Data = append(g.Data, m...)
		switch {
		case g.Cut:
			cut.add(g.No)
		case errors.Is(g.Bad, frame.ErrEncrypted):
			encrypted.add(g.No)
		case g.Bad != nil:
			bad.add(g.No)
		}
		if len(w.VLANs) > 0 {
			tagged.add(g.No)
		}
		c.Frames = append(c.Frames, g)
	}
	if udp.n == len(c.Frames) && udp.n > 0 {
		c.UDP = addrs
		c.note(pieces, "are fragments of IP datagrams, which are put together")
	} else {
		i := -1
		c.Frames = slices.DeleteFunc(c.Frames, func(Frame) bool { i++; return overUDP[i] })
		c.note(udp, "carry UDP beside Ethernet and are left out")
	}
	c.note(other, "carry other protocols and are left out")
	c.note(tagged, "have VLAN tags, which are taken off")
	c.note(cut, "are cut short by the capture: not fed, and compared as far as they go")
	c.note(encrypted, areSealed)
	c.note(bad, "do not parse; they are fed as they are")
	return c, nil
}

// A tally counts frames and remembers the first.
type tally struct{ n, first int }

func (t *tally) add(no int) {
	if t.n++; t.n == 1 {
		t.first = no
	}
}

func (c *Capture) note(t tally, what string) {
	if t.n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d frames, the first is %d, %s", t.n, t.first, what))
	}
}
