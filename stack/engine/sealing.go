// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/seal"
)

// overhead is what sealing adds to a packet, in bytes, where its length is a multiple
// of 4. Source: docs/spec/09-security.md §1.
const overhead = frame.SealedLen + frame.TagLen

// nextSealed is NextFrame for a node with keys. A frame is sealed when the device takes
// it, so that it has the newest key, and its number on the wire follows the order there.
// Copies under other keys go before it; they are left out when memory is short. A frame
// itself waits then, and all behind it: chunks come back as devices complete, and
// WantsMemory tells that it must be asked for again.
func (e *Engine) nextSealed(b *bearer) *netdev.Buffer {
	c := e.crypt
	b.starved = false
	for b.out.Len() > 0 {
		x := *b.out.At(0)
		if e.observer.on {
			e.observer.taken(x.f)
		}
		msg := x.f.Bytes()[frame.EthernetLen:]
		if !c.ring.Working() {
			b.out.Drop()
			b.copies = 0
			if c.keyed() && !e.takesPlain() || carriesKey(msg) {
				c.count.Unsealed++
				x.f.Release()
				continue
			}
			return x.f
		}
		var to *seal.Peer
		if x.to != nil {
			to = e.cipherPeer(x.to)
		}
		if b.copies == 0 {
			b.choice = c.ring.Choose(c.now, to, seal.KindOf(msg))
		}
		last := b.copies >= b.choice.Len()-1
		var f *netdev.Buffer
		err := seal.ErrNoKey
		if b.copies < b.choice.Len() {
			f, err = e.sealFrame(x.f, to, b.choice.Slot(b.copies), last)
		}
		if err == errNoChunk && last {
			b.starved = true
			return nil
		}
		b.copies++
		if last {
			if f != x.f || err != nil {
				x.f.Release()
			}
			b.out.Drop()
			b.copies = 0
		}
		switch {
		case err == nil && !last:
			c.count.Copies++
			return f
		case err == nil:
			return f
		case last:
			c.count.Unsealed++
		default:
			c.count.CopiesLeftOut++
		}
	}
	return nil
}

// sealFrame seals a frame to a node, nil for all, under the key of a slot: where it lies
// if nobody else has it and no copy follows, else into a chunk of its own. The caller has
// one hold of what comes back. Errors: errNoChunk; seal.ErrNoRoom where no chunk is that
// large, and the others of seal.Ring.Seal.
func (e *Engine) sealFrame(f *netdev.Buffer, to *seal.Peer, slot uint8, last bool) (*netdev.Buffer, error) {
	msg := f.Bytes()[frame.EthernetLen:]
	head, size := seal.HeaderLen(msg), seal.SealedSize(msg)
	n := len(msg)
	if last && !f.Shared() && f.Offset()-f.Chunk() >= head && f.Tailroom() >= size-head-n {
		f.Prepend(head)
		whole := f.Bytes()
		copy(whole, whole[head:head+frame.EthernetLen])
		f.Extend(size - head - n)
		whole = f.Bytes()[frame.EthernetLen:]
		_, err := e.crypt.ring.Seal(whole, whole[head:head+n], to, slot)
		return f, err
	}
	if frame.EthernetLen+size > e.cfg.Arena.Largest() {
		return nil, seal.ErrNoRoom // made before there was a key
	}
	s := e.cfg.Arena.Get(frame.EthernetLen+size, netdev.Sealing)
	if s == nil {
		return nil, errNoChunk
	}
	whole := s.Extend(frame.EthernetLen + size)
	copy(whole, f.Bytes()[:frame.EthernetLen])
	if _, err := e.crypt.ring.Seal(whole[frame.EthernetLen:], msg, to, slot); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// sealingWaits reports whether a frame waits for a chunk to be sealed into.
func (e *Engine) sealingWaits() bool {
	for _, b := range e.bearers {
		if b.starved && b.out.Len() > 0 {
			return true
		}
	}
	return false
}

// overhead is what is left free in every packet for sealing.
func (e *Engine) overhead() int {
	if !e.cfg.Sealed {
		return 0
	}
	return overhead
}

// leastMTU is that of a bearer that is of use: with keys one that takes a proof, see proves,
// which is longer than the shortest packet of a link.
func (e *Engine) leastMTU() int {
	if !e.cfg.Sealed {
		return frame.MinMTU
	}
	return max(frame.MinMTU+overhead, sealedProof)
}

// sealedProof is the length of a sealed Response with a proof, in bytes.
const sealedProof = frame.SealedDiscLen + frame.DiscLen + len(frame.Identity{}) + frame.ProofLen + frame.TagLen

// fits is the largest packet that fits into mtu bytes.
func (e *Engine) fits(mtu int) int {
	if !e.cfg.Sealed {
		return mtu
	}
	return mtu&^3 - overhead
}
