// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// A Device is what both drivers are: a stack.Device that can say what it is.
type Device interface {
	Name() string
	Addr() frame.MAC
	MTU() int
	Attach(arena *frame.Arena, wake func()) error
	FD() int
	Receive(bufs []*frame.Buffer) (int, error)
	Transmit(bufs []*frame.Buffer) (n int, err error)
	Dropped() (in, out uint64)
	Close() error
	String() string
}

// A Bearer is an interface with the driver that was chosen for it, a stack.Device,
// and a stack.Peeker if the driver is one. Its Attach closes a driver that refuses,
// and opens and attaches the next; its errors are ErrAttached, net.ErrClosed, those
// of the interface, and *ChoiceError when all have refused.
type Bearer interface {
	Device
	// Way is the driver that was chosen, and its mode.
	Way() Way
	// Driver is the chosen driver itself, a *Packet or an *XSK. It stays the same
	// from Attach on.
	Driver() Device
	// Reason is why the driver that was tried first was the first.
	Reason() string
	// Why tells what was not chosen, and why: what was ruled out beforehand, then
	// what was tried.
	Why() []Refusal
}
