// SPDX-License-Identifier: Apache-2.0

package xdp

import "golang.org/x/sys/unix"

// counts are a device's own; the rest the kernel counts.
type counts struct {
	lostIn, lostOut uint64
	corrupt         uint64
	kicks, retries  uint64
	refused         uint64
	kernel          unix.XDPStatistics // the sum of all sockets, when last asked
}

// XSKStatistics tell what became of frames that got lost, and how often the
// kernel was called.
type XSKStatistics struct {
	ReceiveDropped    uint64 // frames the kernel dropped: no chunk in the fill ring, or longer than one
	ReceiveRingFull   uint64 // frames the kernel dropped because the receive ring was full
	FillRingEmpty     uint64 // times the kernel found no chunk in the fill ring
	FillInvalid       uint64 // chunks of the fill ring that the kernel refused
	TransmitInvalid   uint64 // descriptors of the transmit ring that the kernel refused
	TransmitRingEmpty uint64 // times the kernel found nothing to send
	NotJoined         uint64 // frames of several pieces, or longer than the MTU, dropped here
	NotSent           uint64 // frames that the driver, or Transmit, refused
	Corrupt           uint64 // entries of the kernel's rings that made no sense; they were left alone
	Kicks             uint64 // calls to send
	KickRetries       uint64 // of these, those after the kernel had left frames behind
	KicksRefused      uint64 // of these, those that found the interface down or gone
}

// Statistics tells the counts since the device was attached. It costs a system
// call for each queue, is safe for concurrent use, and still tells after Close.
func (x *XSK) Statistics() XSKStatistics {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.countLocked()
	k := &x.counts.kernel
	return XSKStatistics{
		ReceiveDropped: k.Rx_dropped, ReceiveRingFull: k.Rx_ring_full,
		FillRingEmpty: k.Rx_fill_ring_empty_descs, FillInvalid: k.Rx_invalid_descs,
		TransmitInvalid: k.Tx_invalid_descs, TransmitRingEmpty: k.Tx_ring_empty_descs,
		NotJoined: x.counts.lostIn, NotSent: x.counts.lostOut,
		Corrupt: x.counts.corrupt, Kicks: x.counts.kicks, KickRetries: x.counts.retries,
		KicksRefused: x.counts.refused,
	}
}

// Dropped counts, on the way in, frames that found no chunk in the fill ring or
// no room in the receive ring, were longer than the MTU allows or could not be
// put together; on the way out, those that the driver or Transmit refused. It
// costs a system call for each queue. It is safe for concurrent use, and still
// tells after Close.
func (x *XSK) Dropped() (in, out uint64) {
	s := x.Statistics()
	return s.ReceiveDropped + s.ReceiveRingFull + s.NotJoined, s.NotSent + s.TransmitInvalid
}

// countLocked asks the kernel, unless the sockets are gone or not bound yet.
func (x *XSK) countLocked() {
	if x.closed || x.arena == nil {
		return
	}
	var sum unix.XDPStatistics
	for _, s := range x.sockets {
		k, err := kernelCounts(s.fd)
		if err != nil {
			return
		}
		sum.Rx_dropped += k.Rx_dropped
		sum.Rx_invalid_descs += k.Rx_invalid_descs
		sum.Tx_invalid_descs += k.Tx_invalid_descs
		sum.Rx_ring_full += k.Rx_ring_full
		sum.Rx_fill_ring_empty_descs += k.Rx_fill_ring_empty_descs
		sum.Tx_ring_empty_descs += k.Tx_ring_empty_descs
	}
	x.counts.kernel = sum
}
