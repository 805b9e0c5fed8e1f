// SPDX-License-Identifier: Apache-2.0

package stack

import "github.com/utipc/utipc/frame"

// A Device is one attachment to a network: batches of Ethernet frames in,
// batches out. Everything is called by one side at a time, the one that turns
// the engine, except Close, which may come from anywhere, once or again.
//
// Who holds a Buffer:
//
//   - Receive hands over Buffers the device took from the arena, one hold each.
//   - Transmit leaves the caller's hold alone. The device lends each frame it
//     takes to the wire (frame.Buffer.Lend) until its transmission is complete,
//     and ends the hold in that call or a later one of Transmit or Receive.
//   - Close ends every hold the device has, when the wire has let go.
//
// Every Device passes the suite in test/device.
type Device interface {
	// Name is the interface's name, at most 15 characters; peers see it.
	Name() string
	// Addr is the station's own address.
	Addr() frame.MAC
	// MTU is the largest message a frame may carry, in bytes, the Ethernet
	// header not counted.
	MTU() int
	// Attach is called once, before anything below. The device takes the
	// Buffers it receives into from arena. A device without a descriptor calls
	// wake, from any goroutine, when frames have arrived; wake does not block.
	Attach(arena *frame.Arena, wake func()) error
	// FD is a descriptor that polls readable when frames have arrived, or -1.
	FD() int
	// Receive fills bufs with frames that have arrived and says how many; it
	// never waits. An error concerns the device, not a frame: it unwraps to
	// net.ErrClosed after Close.
	Receive(bufs []*frame.Buffer) (int, error)
	// Transmit takes the first n of bufs, in order, and gives the wire one
	// kick for all; it never waits. n is short when the device is full: the
	// rest is to be offered again. With an error the first frame not taken was
	// refused for good.
	Transmit(bufs []*frame.Buffer) (n int, err error)
	// Dropped counts frames the device lost on their way in and out.
	Dropped() (in, out uint64)
	// Close stops the device and gives back what it holds.
	Close() error
}
