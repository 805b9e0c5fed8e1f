// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

var update = flag.Bool("update", false, "write the golden files anew")

// captures are all there are. A frame that is not TIPC is ARP, IGMP or ICMP, or a
// fragment of an IP datagram.
var captures = []struct {
	number            string
	frames            int
	encrypted, others int
}{
	{"01", 69, 0, 0},
	{"02", 44, 0, 0},
	{"03", 37, 0, 0},
	{"04", 21, 0, 0},
	{"05", 158, 0, 0},
	{"06", 62, 0, 0},
	{"07", 177, 0, 0},
	{"08", 198, 0, 0},
	{"09", 138, 0, 0},
	{"10", 86, 0, 0},
	{"11", 72, 0, 0},
	{"12", 280, 0, 0},
	{"13", 281, 0, 0},
	{"14", 262, 0, 0},
	{"15", 343, 0, 0},
	{"16", 362, 0, 0},
	{"17", 433, 0, 0},
	{"18", 1050, 0, 0},
	{"19", 659, 0, 0},
	{"20", 124, 0, 0},
	{"21", 78, 0, 0},
	{"22", 182, 0, 0},
	{"23", 532, 0, 0},
	{"24", 47, 47, 0},
	{"25", 136, 136, 0},
	{"26", 66, 0, 14},
	{"27", 69, 0, 28},
}

// TestCaptures reads every frame the kernel sent, prints it, and builds it again
// byte for byte; encrypted ones as they are, and what is in them.
func TestCaptures(t *testing.T) {
	byUser := map[string]int{}
	for _, c := range captures {
		frames := readCapture(t, c.number)
		if len(frames) != c.frames {
			t.Errorf("capture %s: got %d frames, want %d", c.number, len(frames), c.frames)
		}
		keys, encrypted, others := newOpener(t), 0, 0
		for i, f := range frames {
			w, b, err := layers.Unwrap(f.Data)
			if errors.Is(err, frame.ErrNotTIPC) || errors.Is(err, layers.ErrFragment) {
				others++
				continue
			}
			if err != nil {
				t.Fatalf("capture %s frame %d: got %v, want nil", c.number, i+1, err)
			}
			if !w.UDP {
				head := make([]byte, frame.EthernetLen)
				if frame.PutEthernet(head, w.Dst, w.Src); !bytes.HasPrefix(f.Data, head) {
					t.Errorf("capture %s frame %d: got %x, want %x", c.number, i+1, head, f.Data[:frame.EthernetLen])
				}
			}
			if e, err := frame.ParseEncrypted(b); err == nil {
				encrypted++
				fields := e.Fields()
				if got := fields.Append(nil, e.Sealed()); !bytes.Equal(got, b) {
					t.Errorf("capture %s frame %d: got %x, want %x", c.number, i+1, got, b)
				}
				if line, err := frame.Describe(b); err != frame.ErrEncrypted || strings.Contains(line, "frame:") {
					t.Errorf("capture %s frame %d: got %q, %v, want a line and %v", c.number, i+1, line, err, frame.ErrEncrypted)
				}
				b = keys.open(e)
			}
			if got, err := rebuild(b, nil); err != nil || !bytes.Equal(got, b) {
				t.Errorf("capture %s frame %d: got %x, %v, want %x", c.number, i+1, got, err, b)
			}
			line, err := frame.Describe(b)
			if err != nil || strings.Contains(line, "frame:") {
				t.Errorf("capture %s frame %d: got %q, %v, want a line without an error", c.number, i+1, line, err)
			}
			if m, err := frame.Parse(b); err == nil {
				byUser[fmt.Sprintf("%d %v", m.User(), m.User())]++
			}
		}
		if encrypted != c.encrypted || others != c.others {
			t.Errorf("capture %s: got %d encrypted, %d others, want %d, %d", c.number, encrypted, others, c.encrypted, c.others)
		}
	}
	t.Logf("frames by user: %v", byUser)
}

// rebuild builds the message b, the records and messages inside it too, again
// behind to.
func rebuild(b, to []byte) ([]byte, error) {
	m, err := frame.Parse(b)
	if err != nil {
		return nil, err
	}
	if u, err := frame.ParseBundle(m); err == nil {
		return rebuildBundle(u, to)
	}
	if x, err := frame.ParseTunnel(m); err == nil {
		if in, err := x.Inner(); err == nil {
			data, err := rebuild(in.Bytes(), nil)
			f := x.Fields()
			return f.Append(to, data), err
		}
	}
	if l, err := frame.ParseLink(m); err == nil {
		if s, ok := l.State(); ok {
			return rebuildState(s, to)
		}
	}
	k, ok := kindOf(m)
	if !ok {
		return nil, fmt.Errorf("no kind takes %v", m)
	}
	return k.rebuild(m, to)
}

func rebuildState(s frame.State, to []byte) ([]byte, error) {
	record := s.GuessRecord()
	var data []byte
	g, _, err := s.GapAcks(record)
	if err != nil {
		return nil, err
	}
	if record {
		f := g.Fields(nil)
		data = f.Append(data)
	}
	if d, ok, err := s.Domain(record); err != nil {
		return nil, err
	} else if ok {
		f := d.Fields(nil)
		data = f.Append(data)
	}
	f := s.Fields()
	return f.Append(to, data), nil
}

func rebuildBundle(u frame.Bundle, to []byte) ([]byte, error) {
	var inside []byte
	n := 0
	for m, err := range u.Messages() {
		if err != nil {
			return nil, err
		}
		for len(inside)%4 != 0 { // the kernel leaves old memory there
			inside = append(inside, u.Data()[len(inside)])
		}
		if inside, err = rebuild(m.Bytes(), inside); err != nil {
			return nil, err
		}
		n++
	}
	if n != u.Count() {
		return nil, fmt.Errorf("got %d messages in a bundle, want %d", n, u.Count())
	}
	f := u.Fields()
	return f.Append(to, inside), nil
}

func TestDescribeGolden(t *testing.T) {
	var got strings.Builder
	for _, f := range readCapture(t, "01") {
		line, _ := frame.Describe(f.Data[frame.EthernetLen:])
		fmt.Fprintln(&got, line)
	}
	golden(t, "01-discovery-linkup.golden", got.String())
}
