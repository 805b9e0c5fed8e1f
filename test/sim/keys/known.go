// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"bytes"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// A known key is one that the simulation has a copy of.
type known struct {
	*seal.Key
	cipher *seal.Cipher
	used   map[[12]byte]bool // nonces of what was sealed with it
	number int
}

// learn keeps a copy of a key, or finds the one that there is.
func (c *cluster) learn(mode frame.KeyMode, b []byte) *known {
	k, err := seal.NewKey(mode, b)
	if err != nil {
		panic(err)
	}
	cipher, err := seal.NewCipher(k)
	if err != nil {
		panic(err)
	}
	x := &known{Key: k, cipher: cipher, used: map[[12]byte]bool{}, number: len(c.known)}
	c.known = append(c.known, x)
	c.report.Keys++
	return x
}

// newKey is one that the operator makes.
func (c *cluster) newKey(mode frame.KeyMode) *known {
	b := make([]byte, c.material)
	for i := range b {
		b[i] = byte(c.r.Uint32())
	}
	return c.learn(mode, b)
}

// check looks at a frame as it leaves a node, and returns the key it is sealed with.
func (c *cluster) check(s *station, bearer int, b []byte) *known {
	msg := b[frame.EthernetLen:]
	e, err := frame.ParseEncrypted(msg)
	if err != nil {
		if s.keyed {
			c.violate("node %v has a key and sends a plain frame, user %d", s.addr, frame.UserOf(msg))
		}
		c.report.Plain++
		return nil
	}
	c.report.Sealed++
	var dest frame.NodeAddr
	if f := e.Fields(); f.Destined {
		if o := c.stationOf(frame.MAC(b[:6])); o != nil {
			dest = o.addr
		}
	}
	k, plain := c.open(s, msg, e, dest)
	if k == nil {
		c.violate("node %v sends a frame that no key opens, slot %d", s.addr, e.Fields().TX)
		return nil
	}
	nonce := k.cipher.Nonce(e.Header(), dest)
	if k.used[nonce] {
		c.violate("node %v uses a nonce of key %d again, number %d", s.addr, k.number, e.Seq())
	}
	k.used[nonce] = true
	if m, err := frame.Parse(plain); err == nil {
		if d, err := frame.ParseKey(m); err == nil {
			c.report.KeyMessages++
			if c.master != nil && bytes.Equal(d.Key(), c.master.Append(nil)) {
				c.violate("node %v sends the master key", s.addr)
			}
		}
	}
	return k
}

// open finds the key that a frame is sealed with: mostly that of the one before in its slot.
func (c *cluster) open(s *station, msg []byte, e frame.Encrypted, dest frame.NodeAddr) (*known, []byte) {
	slot := e.Fields().TX
	if k := s.slots[slot]; k != nil {
		if plain, ok := c.opens(k, msg, dest); ok {
			return k, plain
		}
	}
	for i := len(c.known) - 1; i >= 0; i-- {
		if plain, ok := c.opens(c.known[i], msg, dest); ok {
			s.slots[slot] = c.known[i]
			return c.known[i], plain
		}
	}
	return nil, nil
}

func (c *cluster) opens(k *known, msg []byte, dest frame.NodeAddr) ([]byte, bool) {
	c.scratch = append(c.scratch[:0], msg...)
	e, err := frame.ParseEncrypted(c.scratch)
	if err != nil {
		return nil, false
	}
	plain, err := k.cipher.Open(e, dest)
	return plain, err == nil
}
