// SPDX-License-Identifier: Apache-2.0

package fault

import "github.com/utipc/utipc/frame"

// A Device is what an Injector wraps and is itself: stack.Device, said again
// here because carriers do not import stack. The contract is the one there.
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
}
