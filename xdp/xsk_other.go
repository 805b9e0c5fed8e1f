// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package xdp

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// An XSK is one Ethernet interface; Linux only.
type XSK struct{}

// XSKStatistics are nothing here.
type XSKStatistics struct{}

var errNoXSK = fmt.Errorf("xdp: AF_XDP is not supported on %s: %w", runtime.GOOS, errors.ErrUnsupported)

// OpenXSK always fails here, with an errors.ErrUnsupported.
func OpenXSK(string, *XSKConfig) (*XSK, error) { return nil, errNoXSK }

// Install always fails here, with an errors.ErrUnsupported.
func Install(ifname, path string, mode Mode) (io.Closer, error) { return nil, errNoXSK }

// Name is empty here.
func (x *XSK) Name() string { return "" }

// Addr is nobody's here.
func (x *XSK) Addr() frame.MAC { return frame.MAC{} }

// MTU is 0 here.
func (x *XSK) MTU() int { return 0 }

// Mode is ModeAuto here.
func (x *XSK) Mode() Mode { return ModeAuto }

// ZeroCopy is false here.
func (x *XSK) ZeroCopy() bool { return false }

// Refused says that there is no such device here.
func (x *XSK) Refused() []error { return []error{errNoXSK} }

// String says that there is no such device here.
func (x *XSK) String() string { return errNoXSK.Error() }

// Attach fails here.
func (x *XSK) Attach(*netdev.Arena, func()) error { return errNoXSK }

// FD is -1 here.
func (x *XSK) FD() int { return -1 }

// Receive fails here.
func (x *XSK) Receive([]*netdev.Buffer) (int, error) { return 0, errNoXSK }

// Transmit fails here.
func (x *XSK) Transmit([]*netdev.Buffer) (int, error) { return 0, errNoXSK }

// Statistics are nothing here.
func (x *XSK) Statistics() XSKStatistics { return XSKStatistics{} }

// Dropped is nothing here.
func (x *XSK) Dropped() (in, out uint64) { return 0, 0 }

// Close does nothing here.
func (x *XSK) Close() error { return nil }

// Ready reports true, so that Receive tells.
func (x *XSK) Ready() bool { return true }
