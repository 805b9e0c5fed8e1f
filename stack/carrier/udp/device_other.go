// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package udp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Device is one UDP bearer; Linux only.
type Device struct{}

var errNotSupported = fmt.Errorf("udp: not supported on %s: %w", runtime.GOOS, errors.ErrUnsupported)

// Open fails here with an errors.ErrUnsupported, or a *ConfigError.
func Open(c Config) (*Device, error) {
	if _, err := c.withDefaults(); err != nil {
		return nil, err
	}
	return nil, errNotSupported
}

// InterfaceOf always fails here, with an errors.ErrUnsupported.
func InterfaceOf(netip.Addr) (*net.Interface, error) { return nil, errNotSupported }

// Name is empty here.
func (d *Device) Name() string { return "" }

// Addr is nobody's here.
func (d *Device) Addr() frame.MAC { return frame.MAC{} }

// MTU is 0 here.
func (d *Device) MTU() int { return 0 }

// Own is nobody's here.
func (d *Device) Own() netip.AddrPort { return netip.AddrPort{} }

// Remote knows nobody here.
func (d *Device) Remote(frame.MAC) (netip.AddrPort, bool) { return netip.AddrPort{}, false }

// Ends are nobody's here.
func (d *Device) Ends() (local, remote netip.AddrPort) { return local, remote }

// AddRemote fails here.
func (d *Device) AddRemote(netip.AddrPort) error { return errNotSupported }

// RemoveRemote fails here.
func (d *Device) RemoveRemote(netip.AddrPort) error { return errNotSupported }

// Remotes are none here.
func (d *Device) Remotes() []netip.AddrPort { return nil }

// Rejoin fails here.
func (d *Device) Rejoin() error { return errNotSupported }

// Joined is true here.
func (d *Device) Joined() bool { return true }

// Index is 0 here.
func (d *Device) Index() int { return 0 }

// Keep does nothing here.
func (d *Device) Keep(frame.MAC, bool) {}

// String says that there is no such device here.
func (d *Device) String() string { return errNotSupported.Error() }

// Attach fails here.
func (d *Device) Attach(*netdev.Arena, func()) error { return errNotSupported }

// FD is -1 here.
func (d *Device) FD() int { return -1 }

// Receive fails here.
func (d *Device) Receive([]*netdev.Buffer) (int, error) { return 0, errNotSupported }

// Prefetches is false here.
func (d *Device) Prefetches() bool { return false }

// Transmit fails here.
func (d *Device) Transmit([]*netdev.Buffer) (int, error) { return 0, errNotSupported }

// Dropped is nothing here.
func (d *Device) Dropped() (in, out uint64) { return 0, 0 }

// Stats is nothing here.
func (d *Device) Stats() Stats { return Stats{} }

// Close does nothing here.
func (d *Device) Close() error { return nil }
