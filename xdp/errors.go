// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"os"
)

// Why an interface cannot be used: the Reason of an *InterfaceError, for
// errors.Is.
var (
	// ErrMissing means no interface of the network namespace has the name. It is
	// also an os.ErrNotExist.
	ErrMissing error = &reason{"does not exist", os.ErrNotExist}
	// ErrLoopback means the interface is the loopback, where no peer can be.
	ErrLoopback error = &reason{"is the loopback", nil}
	// ErrNotEthernet means the interface's frames have no Ethernet header.
	ErrNotEthernet error = &reason{"is not Ethernet", nil}
	// ErrName means an alternative name of the interface is longer than the 15 characters
	// that the names of TIPC's links have room for.
	ErrName error = &reason{"has a name longer than 15 characters", nil}
	// ErrPort means the interface is a port of a bridge, a bond or the like, which takes
	// the frames that arrive. An open device works again when it is no longer.
	ErrPort error = &reason{"is a port of another interface", nil}
	// ErrAddress means the interface has another station address than when the device was
	// opened. The device goes on with the old one, which switches may not forgive.
	ErrAddress error = &reason{"has another address", nil}
	// ErrMTU means the interface's MTU is below MinMTU.
	ErrMTU error = &reason{fmt.Sprintf("has an MTU below %d bytes", MinMTU), nil}
	// ErrDown means the interface is administratively down. An open device works
	// again when the interface comes up.
	ErrDown error = &reason{"is down", nil}
	// ErrNoCarrier means the interface is up but its other end is not there. An
	// open device works again when it is.
	ErrNoCarrier error = &reason{"has no carrier", nil}
	// ErrRemoved means the interface the device was opened on is gone from the
	// network namespace, for good; another one may have its name. It is also an
	// os.ErrNotExist.
	ErrRemoved error = &reason{"has been removed", os.ErrNotExist}
)

var (
	// ErrAttached means a device was attached before.
	ErrAttached = errors.New("xdp: attached before")
	// ErrNotAttached means a device was to receive before it was attached.
	ErrNotAttached = errors.New("xdp: not attached")
	// ErrArena means the arena has no chunk to receive into.
	ErrArena = errors.New("xdp: no chunk to receive into")
)

// A reason is a sentinel that says something of an interface, and what more
// general error it is.
type reason struct {
	says string
	is   error
}

func (r *reason) Error() string { return "xdp: interface " + r.says }
func (r *reason) Unwrap() error { return r.is }

// An InterfaceError says why an interface cannot be used, or not at the moment,
// and what to do. It unwraps to its Reason.
type InterfaceError struct {
	Interface string
	Reason    error  // one of those above
	Advice    string // what to do
}

func (e *InterfaceError) Error() string {
	says := e.Reason.Error()
	if r, ok := e.Reason.(*reason); ok {
		says = r.says
	}
	return fmt.Sprintf("xdp: interface %s %s: %s", e.Interface, says, e.Advice)
}

func (e *InterfaceError) Unwrap() error { return e.Reason }

// A PrivilegeError says that the process may not open packet sockets, and how it
// could. It unwraps to the system's error, which is an os.ErrPermission.
type PrivilegeError struct {
	Interface string
	Program   string // the path of the running program
	Err       error
}

func (e *PrivilegeError) Error() string {
	return fmt.Sprintf("xdp: interface %s: a packet socket needs the privilege CAP_NET_RAW: run as root, "+
		"or give it to the program (setcap cap_net_raw+ep %s), "+
		"or use the in-memory carrier, which needs none: %v", e.Interface, e.Program, e.Err)
}

func (e *PrivilegeError) Unwrap() error { return e.Err }

// An OwnedError says that another node owns the interface.
type OwnedError struct {
	Interface string
	Owner     string // "pid 4711, program utipc, since 2026-11-20T10:00:00Z, uid 0"
}

func (e *OwnedError) Error() string {
	return fmt.Sprintf("xdp: interface %[1]s belongs to another node (%[2]s): stop that node, "+
		"or give each an interface of its own, as a veth, "+
		"or a macvlan (ip link add link %[1]s name tipc0 type macvlan mode bridge): "+
		"two of these hear each other, one and %[1]s itself do not", e.Interface, e.Owner)
}

// A KernelError says that the kernel's own TIPC uses the interface.
type KernelError struct {
	Interface string
}

func (e *KernelError) Error() string {
	return fmt.Sprintf("xdp: interface %[1]s belongs to the kernel's tipc module: "+
		"disable its bearer (tipc bearer disable media eth device %[1]s), or give this node an interface of its own, "+
		"as a macvlan (ip link add link %[1]s name tipc0 type macvlan) or a veth", e.Interface)
}

// A FrameError says that the system refused one frame. It unwraps to the
// system's error: EMSGSIZE for one longer than the interface takes, EINVAL for
// one without an Ethernet header, ENOBUFS for one that its driver throws away each time.
type FrameError struct {
	Interface string
	Len       int // of the frame, in bytes, the Ethernet header included
	Err       error
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("xdp: interface %s: frame of %d bytes refused: %v", e.Interface, e.Len, e.Err)
}

func (e *FrameError) Unwrap() error { return e.Err }
