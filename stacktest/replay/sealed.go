// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// An Envelope is how a frame travelled that was sealed.
type Envelope struct {
	Wire []byte                // the whole frame, Ethernet header without tags
	Head frame.EncryptedFields // its header
	Pad  []byte                // between the message and the tag: any bytes, up to 3
}

// An opener opens sealed frames with the keys it was given, and with those that key
// messages in them bring.
type opener struct {
	ciphers []*seal.Cipher
	keys    []*seal.Key
	nodes   []frame.NodeAddr // that a frame may be sealed for; 0: none
}

func newOpener(keys []*seal.Key) (*opener, error) {
	o := &opener{nodes: []frame.NodeAddr{0}}
	for _, k := range keys {
		if err := o.add(k); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// add takes a key, unless it has it already.
func (o *opener) add(k *seal.Key) error {
	if slices.ContainsFunc(o.keys, func(x *seal.Key) bool { return x.Mode() == k.Mode() && x.Equal(k) }) {
		return nil
	}
	c, err := seal.NewCipher(k)
	if err != nil {
		return err
	}
	o.keys, o.ciphers = append(o.keys, k), append(o.ciphers, c)
	return nil
}

// open opens a frame, which it leaves as it is. Its address is learned, and the key in it
// if it is a key message.
func (o *opener) open(data []byte) (plain []byte, e *Envelope, ok bool) {
	if len(data) < frame.EthernetLen {
		return nil, nil, false
	}
	x, err := frame.ParseEncrypted(data[frame.EthernetLen:])
	if err != nil {
		return nil, nil, false
	}
	for _, c := range o.ciphers {
		nodes := o.nodes
		if c.Mode() == frame.ClusterKey {
			nodes = nodes[:1] // it does not matter
		}
		for _, to := range nodes {
			copied, _ := frame.ParseEncrypted(bytes.Clone(data[frame.EthernetLen:]))
			inner, err := c.Open(copied, to)
			if err != nil {
				continue
			}
			e = &Envelope{Wire: data, Head: x.Fields()}
			m, err := frame.Parse(inner)
			if err == nil {
				n := len(m.Bytes())
				e.Pad, inner = inner[n:], inner[:n]
				o.learn(m)
			}
			return append(data[:frame.EthernetLen:frame.EthernetLen], inner...), e, true
		}
	}
	return nil, nil, false
}

// learn takes what a message tells of addresses and keys.
func (o *opener) learn(m frame.Message) {
	if a := m.Prev(); !slices.Contains(o.nodes, a) {
		o.nodes = append(o.nodes, a)
	}
	if k, err := frame.ParseKey(m); err == nil {
		o.add(keyIn(k))
	}
}

// keyIn is the key that a message brings.
func keyIn(m frame.KeyMessage) *seal.Key {
	mode := m.Mode()
	if mode != frame.ClusterKey {
		mode = frame.NodeKey
	}
	k, _ := seal.NewKey(mode, m.Key()) // of a length that frame.ParseKey has checked
	return k
}

// areSealed is the note on frames that no key opens.
const areSealed = "are encrypted, and no key was given that opens them"

// opened returns the capture as the nodes read it, the sealed frames opened, and what
// opens them.
func (c *Capture) opened(keys []*seal.Key) (*Capture, *opener, error) {
	o, err := newOpener(keys)
	if err != nil {
		return nil, nil, err
	}
	d := *c
	d.Frames = slices.Clone(c.Frames)
	for more := true; more; { // a key or an address may come behind what it opens
		more = false
		for i := range d.Frames {
			f := &d.Frames[i]
			if !errors.Is(f.Bad, frame.ErrEncrypted) || f.Cut {
				continue
			}
			data, e, ok := o.open(f.Data)
			if !ok {
				continue
			}
			f.Data, f.Sealed, more = data, e, true
			f.Message, f.Bad = frame.Parse(data[frame.EthernetLen:])
		}
	}
	var left tally
	for i := range d.Frames {
		if f := &d.Frames[i]; errors.Is(f.Bad, frame.ErrEncrypted) {
			left.add(f.No)
		}
	}
	d.Notes = slices.DeleteFunc(slices.Clone(c.Notes), func(n string) bool { return bytes.HasSuffix([]byte(n), []byte(areSealed)) })
	d.note(left, areSealed)
	return &d, o, nil
}

// wire is a recorded frame as it travelled.
func (f *Frame) wire() []byte {
	if f.Sealed != nil {
		return f.Sealed.Wire
	}
	return f.Data
}

// differSealed says where two headers of sealed frames differ, but for their numbers,
// which count the sealed packets of the node on all its links.
func differSealed(recorded, ours *Envelope) string {
	switch {
	case recorded == nil && ours == nil:
		return ""
	case recorded == nil:
		return "it was sent plain, and we seal it"
	case ours == nil:
		return "it was sent sealed, and we send it plain"
	}
	a, b := recorded.Head, ours.Head
	a.Seq, b.Seq = 0, 0
	if a != b {
		return fmt.Sprintf("its header says %+v, ours %+v", a, b)
	}
	return ""
}
