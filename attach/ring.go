// SPDX-License-Identifier: Apache-2.0

package attach

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
)

// A ring in shared memory carries the records of one connection, both ways, instead of
// its socket. The memory is
//
//	     0  u32 magic, u32 version, u32 bytes each way (told once, not looked at later)
//	  1024  the indices of what goes from the program to the daemon
//	  2048  those of what goes from the daemon to the program
//	  4096  the bytes from the program to the daemon
//	4096+n  the bytes from the daemon to the program
//
// and the indices of one way are four u32, each on cache lines of its own:
//
//	  0  head: bytes that the producer has put in, modulo 2^32      written by the producer
//	128  tail: bytes that the consumer has taken out                written by the consumer
//	256  the consumer sleeps: a wake-up byte when there is something        set by the consumer, cleared by the producer
//	384  the producer sleeps: a wake-up byte when half of it is free        set by the producer, cleared by the consumer
//
// A record begins at a multiple of 64 bytes and is followed by the next such; its data may
// go on at the beginning of the bytes. The head is written after the bytes before it, the
// tail after they were read.
//
// Neither side believes the other. Indices are checked by every look, a position is
// masked, a header is copied once, then checked, then used, and data is copied out and
// never parsed in place. Whoever finds what cannot be closes the connection.
const (
	ringMagic         = 0x52505455
	ringVersion       = 1
	ringPage          = 4096
	ringOut           = 1024 // indices, program to daemon
	ringIn            = 2048 // daemon to program
	ringHead          = 0
	ringTail          = 128
	ringConsumerWants = 256
	ringProducerWants = 384
	ringAlign         = 64

	// MinRing, MaxRing and DefaultRing are sizes of a ring, in bytes each way.
	MinRing     = 128 << 10
	MaxRing     = 1 << 20
	DefaultRing = 256 << 10
)

// ErrRing means a ring in which something stands that cannot be. Who finds it closes
// the connection.
var ErrRing = errors.New("attach: corrupt ring")

// RingSize is the size that a ring has when someone asks for size bytes each way, 0 for
// whatever is usual; ok is false for what is no size.
func RingSize(size uint32) (n int, ok bool) {
	switch {
	case size == 0:
		return DefaultRing, true
	case size < MinRing || size > MaxRing || size&(size-1) != 0:
		return 0, false
	}
	return int(size), true
}

// indices are those of one way.
type indices struct {
	head, tail, consumerWantsWake, producerWantsWake *uint32
}

// A producer puts records in.
type producer struct {
	indices
	mem  []byte // a power of two
	next uint32 // our head
	seen uint32 // the tail when we last looked
}

// A consumer takes records out.
type consumer struct {
	indices
	mem  []byte
	next uint32 // our tail
}

// span is the room that a record with n bytes of data takes.
func span(n int) uint32 { return uint32(HeaderLen+n+ringAlign-1) &^ (ringAlign - 1) }

// put puts in a record of h and data, which fits in the ring, if there is room now.
// wake reports whether the consumer has to be woken. Errors: ErrRing.
func (p *producer) put(h *Header, data []byte) (ok, wake bool, err error) {
	need := span(len(data))
	size := uint32(len(p.mem))
	if size-(p.next-p.seen) < need {
		p.seen = atomic.LoadUint32(p.tail)
		if p.next-p.seen > size {
			p.seen = p.next - size // stands still
			return false, false, ErrRing
		}
		if size-(p.next-p.seen) < need {
			return false, false, nil
		}
	}
	at := p.next & (size - 1) &^ (ringAlign - 1)
	h.Len = uint32(len(data))
	h.Put(p.mem[at : at+HeaderLen])
	at = (at + HeaderLen) & (size - 1)
	if n := copy(p.mem[at:], data); n < len(data) {
		copy(p.mem, data[n:])
	}
	p.next += need
	atomic.StoreUint32(p.head, p.next)
	return true, wants(p.consumerWantsWake), nil
}

// wants reports whether a sleeper has asked for a wake-up byte, and takes note of it.
func wants(flag *uint32) bool {
	return atomic.LoadUint32(flag) != 0 && atomic.SwapUint32(flag, 0) != 0
}

// arm asks for a wake-up byte when there is room.
func (p *producer) arm() { atomic.StoreUint32(p.producerWantsWake, 1) }

// disarm takes that back.
func (p *producer) disarm() { atomic.StoreUint32(p.producerWantsWake, 0) }

// some reports whether there is something to take, or something wrong.
func (c *consumer) some() bool { return atomic.LoadUint32(c.head) != c.next }

// get takes out a record, its header to h and as much of its data to b as fits; n is how
// much. room, if not nil, is called for b once there is a record. wake reports whether
// the producer has to be woken. Errors: ErrRing, ErrRecord.
func (c *consumer) get(h *Header, b []byte, room func() []byte) (n int, ok, wake bool, err error) {
	size := uint32(len(c.mem))
	used := atomic.LoadUint32(c.head) - c.next
	switch {
	case used == 0:
		return 0, false, false, nil
	case used > size || used < HeaderLen || used%ringAlign != 0:
		return 0, false, false, ErrRing
	}
	at := c.next & (size - 1)
	var private [HeaderLen]byte
	copy(private[:], c.mem[at:at+HeaderLen])
	if err := h.parse(private[:]); err != nil {
		return 0, false, false, err
	}
	take := span(int(h.Len))
	if take > used {
		return 0, false, false, ErrRing
	}
	if room != nil {
		b = room()
	}
	b = b[:min(len(b), int(h.Len))]
	at = (at + HeaderLen) & (size - 1)
	if n = copy(b, c.mem[at:]); n < len(b) {
		n += copy(b[n:], c.mem)
	}
	c.next += take
	atomic.StoreUint32(c.tail, c.next)
	return n, true, used-take <= size/2 && wants(c.producerWantsWake), nil
}

// arm asks for a wake-up byte when there is something.
func (c *consumer) arm() { atomic.StoreUint32(c.consumerWantsWake, 1) }

// disarm takes that back.
func (c *consumer) disarm() { atomic.StoreUint32(c.consumerWantsWake, 0) }

// room reports whether a record with n bytes of data fits now, or something is wrong.
func (p *producer) room(n int) bool {
	used := p.next - atomic.LoadUint32(p.tail)
	return used > uint32(len(p.mem)) || uint32(len(p.mem))-used >= span(n)
}

// op is the operation of the next record, if there is one. It may be another when the
// record is taken.
func (c *consumer) op() (op Op, ok bool) {
	if !c.some() {
		return 0, false
	}
	at := c.next & uint32(len(c.mem)-1)
	return Op(binary.NativeEndian.Uint16(c.mem[at:])), true
}
