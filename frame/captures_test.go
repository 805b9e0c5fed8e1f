// SPDX-License-Identifier: Apache-2.0

package frame_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/internal/samples"
	"github.com/utipc/utipc/frame/layers"
)

// TestCaptures reads every frame the kernel sent, and builds it again
// byte for byte; encrypted ones as they are, and what is in them.
//
// Proves: wire.bytes
func TestCaptures(t *testing.T) {
	byUser := map[string]int{}
	for _, c := range samples.Captures {
		frames := samples.Read(t, c.Number)
		if len(frames) != c.Frames {
			t.Errorf("capture %s: got %d frames, want %d", c.Number, len(frames), c.Frames)
		}
		keys, encrypted, others := samples.NewOpener(t), 0, 0
		for i, f := range frames {
			w, b, err := layers.Unwrap(f.Data)
			if errors.Is(err, frame.ErrNotTIPC) || errors.Is(err, layers.ErrFragment) {
				others++
				continue
			}
			if err != nil {
				t.Fatalf("capture %s frame %d: got %v, want nil", c.Number, i+1, err)
			}
			if !w.UDP {
				head := make([]byte, frame.EthernetLen)
				if frame.PutEthernet(head, w.Dst, w.Src); !bytes.HasPrefix(f.Data, head) {
					t.Errorf("capture %s frame %d: got %x, want %x", c.Number, i+1, head, f.Data[:frame.EthernetLen])
				}
			}
			if e, err := frame.ParseEncrypted(b); err == nil {
				encrypted++
				fields := e.Fields()
				if got := fields.Append(nil, e.Sealed()); !bytes.Equal(got, b) {
					t.Errorf("capture %s frame %d: got %x, want %x", c.Number, i+1, got, b)
				}
				b = keys.Open(e)
			}
			if got, err := rebuild(b, nil); err != nil || !bytes.Equal(got, b) {
				t.Errorf("capture %s frame %d: got %x, %v, want %x", c.Number, i+1, got, err, b)
			}
			m, err := frame.Parse(b)
			if err != nil {
				t.Fatalf("capture %s frame %d: got %v, want nil", c.Number, i+1, err)
			}
			if err := m.Check(); err != nil {
				t.Errorf("capture %s frame %d: got %v, want nil", c.Number, i+1, err)
			}
			byUser[fmt.Sprintf("%d %v", m.User(), m.User())]++
		}
		if encrypted != c.Encrypted || others != c.Others {
			t.Errorf("capture %s: got %d encrypted, %d others, want %d, %d", c.Number, encrypted, others, c.Encrypted, c.Others)
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
	k, ok := samples.KindOf(m)
	if !ok {
		return nil, fmt.Errorf("no kind takes %x", m.Bytes())
	}
	return k.Rebuild(m, to)
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
