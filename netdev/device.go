// SPDX-License-Identifier: Apache-2.0

package netdev

import (
	"github.com/utipc/utipc/frame"
)

// A Device is one attachment to a network: batches of Ethernet frames in,
// batches out. Everything is called by one side at a time, the one that turns
// the engine, except Close, which may come from anywhere, once or again.
//
// Who holds a Buffer:
//
//   - Receive hands over Buffers the device took from the arena, one hold each.
//   - Transmit leaves the caller's hold alone. The device lends each frame it
//     takes to the wire (Buffer.Lend) until its transmission is complete,
//     and ends the hold in that call or a later one of Transmit or Receive.
//   - Close ends every hold the device has, when the wire has let go.
//
// When the owner may sleep: after a Receive that filled less than it was given,
// the next frame to arrive makes FD readable or calls wake. Two things wake
// nobody, and the owner has to look again by itself: chunks that come back when
// the arena was empty, and room after a short Transmit.
//
// Every Device passes the suite in test/device.
type Device interface {
	// Name is the interface's name, at most 15 characters; peers see it.
	Name() string
	// Addr is the station's own address.
	Addr() frame.MAC
	// MTU is the largest message a frame may carry now, in bytes, the Ethernet
	// header not counted; 0 while the interface carries nothing. It is asked in
	// every poll, so it costs no system call. When it changes FD is readable or wake
	// is called: the node resets its links there, and goes on with the new value.
	MTU() int
	// Attach is called once, before anything below; a second call is an error and
	// changes nothing. The device takes the Buffers it receives into from arena.
	// A device without a descriptor calls wake when frames have arrived, from any
	// goroutine or several at once; every device calls it once more when it is
	// closed. wake does not block.
	Attach(arena *Arena, wake func()) error
	// FD is a descriptor that polls readable when frames have arrived, or -1. It
	// may be polled until a call has returned net.ErrClosed.
	FD() int
	// Receive fills bufs with frames that have arrived and says how many; it
	// never waits. An error comes alone and concerns the device, not a frame: it
	// unwraps to net.ErrClosed after Close. Others may pass: the device is asked
	// again.
	Receive(bufs []*Buffer) (int, error)
	// Transmit takes the first n of bufs, in order, and gives the wire one
	// kick for all; it never waits. n is short when the device is full: the
	// rest is to be offered again. With an error the first frame not taken is
	// lost, because it cannot be sent, or the device cannot send.
	Transmit(bufs []*Buffer) (n int, err error)
	// Dropped counts frames the device lost on their way in and out.
	Dropped() (in, out uint64)
	// Close stops the device and gives back what it holds.
	Close() error
}

// LevelTriggered is what a Device may have beside: it reports whether FD is readable as
// long as there is anything to receive, also after a Receive that filled all it was
// given. Then a call that sleeps need not look before.
type LevelTriggered interface{ LevelTriggered() bool }

// A Prefetcher is what a Device may have beside: it reports whether Receive takes as many
// frames from the network as it can, whatever it was asked for. Such a Device is asked for a
// whole batch each time. Others are asked for more only while more came: to find out that no
// more wait may cost them a system call.
type Prefetcher interface{ Prefetches() bool }

// A Peeker is a Device that can tell cheaply, without a system call, whether there
// is something to receive. A driver that spins then does so without the node's lock.
type Peeker interface {
	// Ready reports whether Receive would find something. It may be called by
	// anybody at any time, also while Receive runs and after Close; what it says
	// may be old by a moment.
	Ready() bool
}
