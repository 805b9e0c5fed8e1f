// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
)

const ethernetLen = frame.EthernetLen

// A Property is what tipc(8) gets and sets of links, bearers and media, by its name
// there. Source: docs/spec/10-management.md §4.
type Property string

const (
	PropertyPriority  Property = "priority"  // of links to one node the highest carries all: 1 to 31
	PropertyTolerance Property = "tolerance" // how long a peer may be silent, 50 to 30000 ms
	PropertyWindow    Property = "window"    // packets sent and not acknowledged, at most: 50 to 8191
	PropertyMTU       Property = "mtu"       // of bearers over UDP, bytes of a message: 128 to 65487
)

// Bounds of properties that differ from a link's own.
const (
	leastWindow = 50 // a kernel refuses less
	leastUDP    = 128
	mostUDP     = 65487
)

// check reports a value out of bounds. Errors: *Refusal with EINVAL.
func (p Property) check(v int) error {
	var least, most int
	switch p {
	case PropertyPriority:
		least, most = 0, 31
	case PropertyTolerance:
		least, most = int(flowctl.MinTolerance.Milliseconds()), int(flowctl.MaxTolerance.Milliseconds())
	case PropertyWindow:
		least, most = leastWindow, flowctl.MaxWindow
	case PropertyMTU:
		least, most = leastUDP, mostUDP
	default:
		return p.refusal()
	}
	if v < least || v > most {
		reason := ""
		if p == PropertyMTU {
			reason = "MTU value is out-of-range."
		}
		return &Refusal{Errno: syscall.EINVAL, Reason: reason, Err: fmt.Errorf("%w: %s %d is not in %d to %d", ErrConfig, p, v, least, most)}
	}
	return nil
}

// refusal is the answer when there is no such property, here.
func (p Property) refusal() error {
	if p == PropertyMTU {
		return refuse(syscall.EOPNOTSUPP, "MTU property is unsupported.")
	}
	return &Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: no property %.40q", ErrConfig, string(p))}
}

// change is a LinkConfig that gives links of least packets in their windows the value.
func (p Property) change(v, least int) LinkConfig {
	switch p {
	case PropertyPriority:
		return LinkConfig{Priority: uint8(max(v, 1))}
	case PropertyTolerance:
		return LinkConfig{Tolerance: time.Duration(v) * time.Millisecond}
	}
	return LinkConfig{Window: min(least, v), MaxWindow: v}
}

// manageError puts err into a *net.OpError, with its errno.
func manageError(op string, err error) error {
	if err == nil {
		return nil
	}
	return opError(op, "tipc", nil, nil, refused(err))
}
