// SPDX-License-Identifier: Apache-2.0

package udp

import (
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// Transmit gives the kernel a copy of each frame, in as few calls as can be, so no
// hold outlives the call. n is short without an error when the send buffer or the
// interface's queue is full. What is for a station that is not in the table, or
// for ourselves, goes nowhere; of a broadcast, the copies that find the device
// full.
//
// Errors, always about bufs[n]: *FrameError, *NetworkError, net.ErrClosed.
func (d *Device) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return 0, d.closedLocked()
	}
	for n < len(bufs) && err == nil {
		var k int
		var full bool
		s, all := d.destination(bufs[n])
		switch {
		case !d.fits(bufs[n]):
			err = d.misfit(bufs[n])
		case all:
			k, full, err = d.sendCopies(bufs[n])
		case s == nil:
			d.stats.Nowhere++
			k = 1
		default:
			d.gather(bufs[n:])
			k, full, err = d.sendGathered()
		}
		if n += k; full {
			break
		}
	}
	if err != nil {
		d.stats.Refused++
	}
	return n, err
}

// fits reports whether a datagram can carry the frame.
func (d *Device) fits(b *netdev.Buffer) bool {
	return b.Len() >= frame.EthernetLen && b.Len() <= d.room()
}

func (d *Device) misfit(b *netdev.Buffer) error {
	if b.Len() < frame.EthernetLen {
		return &FrameError{d.cfg.Name, b.Len(), unix.EINVAL}
	}
	return &FrameError{d.cfg.Name, b.Len(), unix.EMSGSIZE}
}

// destination says where a frame goes: to a station, nil being none, or to all.
func (d *Device) destination(b *netdev.Buffer) (s *station, all bool) {
	if b.Len() < frame.EthernetLen {
		return nil, false
	}
	mac := frame.MAC(b.Bytes())
	if mac.IsGroup() {
		return d.group, d.group == nil
	}
	return d.table.station(mac), false
}

// gather fills the outbox with frames from the front of bufs, the first of which
// fits and has a station. It stops at one that does not.
func (d *Device) gather(bufs []*netdev.Buffer) {
	o := &d.out
	o.clear()
	var last frame.MAC
	for _, b := range bufs[:min(len(bufs), callFrames)] {
		if !d.fits(b) {
			return
		}
		mac := frame.MAC(b.Bytes())
		data := b.Bytes()[frame.EthernetLen:]
		if o.n > 0 && mac == last {
			o.extend(data, d.gso)
			continue
		}
		s, _ := d.destination(b)
		if s == nil {
			return
		}
		o.begin(s, data)
		last = mac
	}
}

// sendGathered sends what is in the outbox and says how many frames were taken.
// With an error the frame behind them is lost.
func (d *Device) sendGathered() (frames int, full bool, err error) {
	o := &d.out
	defer o.forget()
	for at := 0; at < o.n; {
		k, errno := send(d.uni, o.messages[at:o.n])
		for range k {
			frames += o.runs[at].frames
			at++
		}
		d.sent(k, frames)
		switch r := &o.runs[at%len(o.runs)]; {
		case errno == 0, errno == unix.EINTR:
		case busy(errno):
			return frames, true, nil
		case r.frames > 1 && d.cannotCut(errno, r.size):
			return frames, false, nil // without offload the next time
		case errno == unix.ECONNREFUSED:
			d.stats.Unreachable++ // and an earlier datagram is what it was about
			return frames + 1, false, nil
		default:
			return frames, false, d.fault(errno, r)
		}
	}
	return frames, false, nil
}

func (d *Device) sent(runs, frames int) {
	if runs > 0 {
		d.stats.SendCalls++
		d.stats.SentRuns += uint64(runs)
		d.stats.Sent += uint64(frames)
	}
}

// sendCopies sends a frame to everybody who gets broadcasts when there is no
// group. It is taken when at least one copy is, or there is nobody.
func (d *Device) sendCopies(b *netdev.Buffer) (taken int, full bool, err error) {
	o := &d.out
	defer o.forget()
	data := b.Bytes()[frame.EthernetLen:]
	some := false
	for copies := d.table.copies; len(copies) > 0; {
		o.clear()
		for _, s := range copies[:min(len(copies), callMessages)] {
			o.begin(s, data)
		}
		k, errno := send(d.uni, o.messages[:o.n])
		d.sent(k, k)
		some = some || k > 0
		copies = copies[k:]
		switch {
		case errno == 0, errno == unix.EINTR:
		case busy(errno) && !some:
			return 0, true, nil
		case busy(errno):
			d.stats.CutShort += uint64(len(copies))
			return 1, false, nil
		default: // of this remote alone
			d.stats.Unreachable++
			err = d.fault(errno, &o.runs[0])
			copies = copies[1:]
		}
	}
	if some {
		err = nil
	}
	if err != nil {
		d.stats.Unreachable--
		return 0, false, err
	}
	return 1, false, nil
}

// busy reports whether an error means that there is no room at present.
func busy(e unix.Errno) bool {
	return e == unix.EAGAIN || e == unix.ENOBUFS || e == unix.ENOMEM
}

// minCut is the least length of datagrams that segmentation offload is worth
// having for, in bytes.
const minCut = 512

// cannotCut reports whether a run was refused for being one, and has it not
// happen again: the interface has no offload, or its datagrams, of size bytes,
// are longer than the way to the remote takes.
func (d *Device) cannotCut(e unix.Errno, size int) bool {
	switch e {
	case unix.EINVAL, unix.EMSGSIZE:
		d.gso = size - 1
	case unix.EIO, unix.ENOPROTOOPT, unix.EOPNOTSUPP:
		d.gso = 0
	default:
		return false
	}
	if d.gso < minCut {
		d.gso, d.noGSO = 0, e
	}
	return true
}

// fault says what Transmit returns when the system has refused to send to a
// station. The same again costs no allocation.
func (d *Device) fault(e unix.Errno, r *run) error {
	if e == unix.EMSGSIZE {
		return &FrameError{d.cfg.Name, r.size + frame.EthernetLen, e}
	}
	if t := d.trouble; t == nil || t.Err != e || t.Remote != r.to.addr {
		d.trouble = &NetworkError{d.cfg.Name, r.to.addr, e}
	}
	return d.trouble
}
