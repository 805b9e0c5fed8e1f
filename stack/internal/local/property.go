// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"syscall"
	"time"

	"github.com/utipc/utipc/flowctl"
	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/internal/backend"
)

const ethernetLen = frame.EthernetLen

// Bounds of properties that differ from a link's own.
const (
	leastWindow = 50 // a kernel refuses less
	leastUDP    = 128
	mostUDP     = 65487
)

// checkProperty reports a value out of bounds. Errors: *admin.Refusal with EINVAL.
func checkProperty(p control.Property, v int) error {
	var least, most int
	switch p {
	case control.PropertyPriority:
		least, most = 0, 31
	case control.PropertyTolerance:
		least, most = int(flowctl.MinTolerance.Milliseconds()), int(flowctl.MaxTolerance.Milliseconds())
	case control.PropertyWindow:
		least, most = leastWindow, flowctl.MaxWindow
	case control.PropertyMTU:
		least, most = leastUDP, mostUDP
	default:
		return noProperty(p)
	}
	if v < least || v > most {
		reason := ""
		if p == control.PropertyMTU {
			reason = "MTU value is out-of-range."
		}
		return &admin.Refusal{Errno: syscall.EINVAL, Reason: reason, Err: fmt.Errorf("%w: %s %d is not in %d to %d", engine.ErrConfig, p, v, least, most)}
	}
	return nil
}

// noProperty is the answer when there is no such property, here.
func noProperty(p control.Property) error {
	if p == control.PropertyMTU {
		return backend.Refuse(syscall.EOPNOTSUPP, "MTU property is unsupported.")
	}
	return &admin.Refusal{Errno: syscall.EINVAL, Err: fmt.Errorf("%w: no property %.40q", engine.ErrConfig, string(p))}
}

// changeOf is a LinkConfig that gives links of least packets in their windows the value.
func changeOf(p control.Property, v, least int) engine.LinkConfig {
	switch p {
	case control.PropertyPriority:
		return engine.LinkConfig{Priority: uint8(max(v, 1))}
	case control.PropertyTolerance:
		return engine.LinkConfig{Tolerance: time.Duration(v) * time.Millisecond}
	}
	return engine.LinkConfig{Window: min(least, v), MaxWindow: v}
}
