// SPDX-License-Identifier: Apache-2.0

package xdp

import "github.com/utipc/utipc/frame"

// A fate is what an open device has been told of changes that it cannot follow.
type fate struct {
	port bool
	mac  frame.MAC // zero: the one it was opened with
}

// follow takes a new state of the interface, and returns what of it is to be said: that
// the interface has become a port, or has another address than own.
func (f *fate) follow(s linkState, name string, own frame.MAC) error {
	was := *f
	f.port = s.port
	if s.mac == own {
		f.mac = frame.MAC{}
	} else if s.mac != (frame.MAC{}) {
		f.mac = s.mac
	}
	switch {
	case f.port && !was.port:
		return &InterfaceError{name, ErrPort, "its master takes the frames that arrive: use that, or free it: ip link set dev " + name + " nomaster"}
	case f.mac != was.mac && f.mac != (frame.MAC{}):
		return &InterfaceError{name, ErrAddress, "it is " + f.mac.String() + ", and was " + own.String() + ": open it again"}
	}
	return nil
}
