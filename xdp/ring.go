// SPDX-License-Identifier: Apache-2.0

package xdp

import "sync/atomic"

// An AF_XDP socket speaks to the kernel through rings in shared memory, each with
// one producer and one consumer. A side is a type of its own: a producerRing can
// only put, a consumerRing only take, so which end is whose cannot be mixed up.
//
//	            we produce                    we consume
//	fill        chunks to receive into  ──►
//	receive                             ◄──  frames that have arrived
//	transmit    frames to be sent       ──►
//	completion                          ◄──  chunks that have been sent
//
// An index counts entries since the ring was made, modulo 2^32; its low bits say
// where in the ring. The producer's index is written after the entries it
// covers and read before them, which is what the atomics are for: Go's Load and
// Store order at least as acquire and release do. Each is touched once a batch,
// because a store costs some 5 ns and pulls the line from the other side's cache.
//
// The kernel's index is not believed: one that says that more than the whole ring
// is used says nothing, and the ring stands still.
// Source: Documentation/networking/af_xdp.rst, linux/if_xdp.h.

// needWakeup is set in a ring's flags when the kernel wants to be called.
const needWakeup = 1 // XDP_RING_NEED_WAKEUP

// A descriptor names a frame, or a piece of one, in the memory shared with the
// kernel. It is struct xdp_desc of linux/if_xdp.h.
type descriptor struct {
	addr    uint64 // offset in the memory, bytes
	length  uint32 // bytes
	options uint32
}

// continued says that the frame goes on in the next descriptor.
const continued = 1 // XDP_PKT_CONTD

// shared is the part of a ring both sides see. Its memory is the kernel's; the
// pointers go nowhere after the ring is unmapped.
type shared[E any] struct {
	producer, consumer *uint32 // indexes
	flags              *uint32
	entries            []E // a power of two
}

func (s *shared[E]) size() uint32 { return uint32(len(s.entries)) }

// wakeup reports whether the kernel wants to be called about this ring.
func (s *shared[E]) wakeup() bool { return atomic.LoadUint32(s.flags)&needWakeup != 0 }

// A producerRing is one that we put entries into.
type producerRing[E any] struct {
	shared[E]
	next uint32 // our index, ahead of the shared one until publish
	seen uint32 // the kernel's index when we last looked
}

// room makes sure, if it can, that want entries fit, and returns how many do.
func (r *producerRing[E]) room(want uint32) uint32 {
	if free := r.size() - (r.next - r.seen); free >= want {
		return free
	}
	now := atomic.LoadUint32(r.consumer)
	if r.next-now > r.size() {
		return 0
	}
	r.seen = now
	return r.size() - (r.next - now)
}

// put adds an entry. There must be room.
func (r *producerRing[E]) put(e E) {
	r.entries[r.next&(r.size()-1)] = e
	r.next++
}

// publish shows the kernel what was put.
func (r *producerRing[E]) publish() { atomic.StoreUint32(r.producer, r.next) }

// pending is the number of entries the kernel has not taken yet.
func (r *producerRing[E]) pending() uint32 {
	if n := r.next - atomic.LoadUint32(r.consumer); n <= r.size() {
		return n
	}
	return r.size()
}

// A consumerRing is one that we take entries from.
type consumerRing[E any] struct {
	shared[E]
	next uint32 // our index, ahead of the shared one until release
}

// available returns how many entries the kernel has put for us.
func (r *consumerRing[E]) available() uint32 {
	if n := atomic.LoadUint32(r.producer) - r.next; n <= r.size() {
		return n
	}
	return 0
}

// take returns the oldest entry. There must be one available.
func (r *consumerRing[E]) take() E {
	e := r.entries[r.next&(r.size()-1)]
	r.next++
	return e
}

// release gives the kernel the room of what was taken.
func (r *consumerRing[E]) release() { atomic.StoreUint32(r.consumer, r.next) }
