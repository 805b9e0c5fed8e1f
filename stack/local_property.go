// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack/admin"
)

const ethernetLen = frame.EthernetLen

// Bounds of properties that differ from a link's own.
const (
	leastWindow = 50 // a kernel refuses less
	leastUDP    = 128
	mostUDP     = 65487
)

// checkProperty reports a value out of bounds. Errors: *admin.Refusal with EINVAL.
func checkProperty(p admin.Property, v int) error {
	var least, most int
	switch p {
	case admin.PropertyPriority:
		least, most = 0, 31
	case admin.PropertyTolerance:
		least, most = int(flowctl.MinTolerance.Milliseconds()), int(flowctl.MaxTolerance.Milliseconds())
	case admin.PropertyWindow:
		least, most = leastWindow, flowctl.MaxWindow
	case admin.PropertyMTU:
		least, most = leastUDP, mostUDP
	default:
		return noProperty(p)
	}
	if v < least || v > most {
		reason := ""
		if p == admin.PropertyMTU {
			reason = "MTU value is out-of-range."
		}
		return &admin.Refusal{Errno: syscall.EINVAL, Reason: reason, Err: fmt.Errorf("%w: %s %d is not in %d to %d", ErrConfig, p, v, least, most)}
	}
	return nil
}

// noProperty is the answer when there is no such property, here.
func noProperty(p admin.Property) error {
	if p == admin.PropertyMTU {
		return refuse(syscall.EOPNOTSUPP, "MTU property is unsupported.")
	}
	return &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: no property %.40q", ErrConfig, string(p))}
}

// changeOf is a LinkConfig that gives links of least packets in their windows the value.
func changeOf(p admin.Property, v, least int) LinkConfig {
	switch p {
	case admin.PropertyPriority:
		return LinkConfig{Priority: uint8(max(v, 1))}
	case admin.PropertyTolerance:
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

// refuse makes a Refusal of a text.
func refuse(errno syscall.Errno, reason string) error {
	return &admin.Refusal{Errno: errno, Reason: reason}
}

// refused gives err the errno that a kernel would answer: EINVAL for what cannot be,
// ENXIO for what is not there. Others stay as they are.
func refused(err error) error {
	switch r := (*admin.Refusal)(nil); {
	case errors.As(err, &r):
		return err
	case errors.Is(err, ErrConfig):
		return &admin.Refusal{Errno: syscall.EINVAL, Err: err}
	case errors.Is(err, ErrUnreachable):
		return &admin.Refusal{Errno: syscall.ENXIO, Err: err}
	}
	return err
}
