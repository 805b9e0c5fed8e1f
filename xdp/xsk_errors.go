// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
)

// A CapabilityError says that the process lacks a right that AF_XDP needs, and
// how it could get it. It unwraps to the system's error.
type CapabilityError struct {
	Interface string
	Doing     string // what was refused
	Needs     string // the capability or limit
	Program   string // the path of the running program
	Advice    string
	Err       error
}

func (e *CapabilityError) Error() string {
	return fmt.Sprintf("xdp: interface %s: %s needs %s: %s: %v", e.Interface, e.Doing, e.Needs, e.Advice, e.Err)
}

func (e *CapabilityError) Unwrap() error { return e.Err }

// A FeatureError says what the kernel or the driver lacks for AF_XDP. It unwraps
// to the system's error and is an errors.ErrUnsupported.
type FeatureError struct {
	Interface string
	Lacks     string // "AF_XDP sockets (CONFIG_XDP_SOCKETS)"
	Err       error
}

func (e *FeatureError) Error() string {
	return fmt.Sprintf("xdp: interface %s: no %s: use AF_PACKET: %v", e.Interface, e.Lacks, e.Err)
}

func (e *FeatureError) Unwrap() []error { return []error{e.Err, errors.ErrUnsupported} }

// A BusyError says that somebody else's XDP program is on the interface. It
// unwraps to the system's error.
type BusyError struct {
	Interface string
	Mode      Mode
	Err       error
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("xdp: interface %[1]s has another XDP program already (ip link show dev %[1]s tells): "+
		"remove it, or let it redirect TIPC's frames into an XSKMAP and give that (XSKConfig.MapPath), "+
		"or use AF_PACKET: %[2]s mode: %[3]v", e.Interface, e.Mode, e.Err)
}

func (e *BusyError) Unwrap() error { return e.Err }
