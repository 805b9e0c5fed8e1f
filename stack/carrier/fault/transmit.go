// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"net"

	"github.com/utipc/utipc/netdev"
)

// Transmit hands bufs to the device, faults applied. A lost frame counts as
// taken, and so does one held back, which stays lent until it has gone. All that
// are taken stay lent for as long as Config.Linger says. Errors are the device's.
func (j *Injector) Transmit(bufs []*netdev.Buffer) (n int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return 0, net.ErrClosed
	}
	j.out.counts.Changed += j.linger.tick()
	// A frame the device had no room for is offered again: its fate stays.
	for i := len(j.fates); i < len(bufs); i++ {
		j.fates = append(j.fates, j.out.decide(bufs[i].Bytes()))
	}
	for n < len(bufs) && j.flush() {
		var want, taken int
		want, taken, err = j.step(bufs[n:], j.fates[n:])
		n += taken
		if err != nil || taken < want {
			break
		}
	}
	for _, b := range bufs[:n] {
		j.linger.add(b)
	}
	settled := n
	if err != nil {
		settled++ // the frame refused is not offered again
	} else {
		j.flush()
	}
	j.fates = j.fates[:copy(j.fates, j.fates[min(settled, len(j.fates)):])]
	return n, err
}

// step settles the first of bufs, or as many as pass together: want of them, of
// which taken are done with.
func (j *Injector) step(bufs []*netdev.Buffer, fates []fate) (want, taken int, err error) {
	o, b := &j.out, bufs[0]
	switch f := fates[0]; {
	case f == lose:
		o.went(1)
		o.counts.Lost++
		return 1, 1, nil
	case f > pass && o.held == nil:
		o.went(1)
		b.Lend()
		o.hold(b, f)
		return 1, 1, nil
	case f == repeat:
		j.pair = [2]*netdev.Buffer{b, b}
		n, err := j.dev.Transmit(j.pair[:])
		j.pair = [2]*netdev.Buffer{}
		if n == 0 {
			return 1, 0, err
		}
		o.went(1)
		o.counts.Duplicated += uint64(n - 1)
		return 1, 1, nil
	}
	for want = 1; want < len(bufs) && fates[want] == pass; want++ {
		if o.held != nil && want == o.before {
			break
		}
	}
	taken, err = j.dev.Transmit(bufs[:want])
	o.went(taken)
	return want, taken, err
}

// flush sends the frame held back if enough have overtaken it; false when the
// device has no room for it. A frame the device refuses now is lost.
func (j *Injector) flush() bool {
	b := j.out.held
	if b == nil || j.out.before > 0 {
		return true
	}
	j.pair[0] = b
	n, err := j.dev.Transmit(j.pair[:1])
	j.pair[0] = nil
	if n == 0 && err == nil {
		return false
	}
	j.out.held = nil
	b.Complete()
	return true
}
