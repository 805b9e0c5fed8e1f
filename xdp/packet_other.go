// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package xdp

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Packet is one Ethernet interface; Linux only.
type Packet struct{}

var errNotSupported = fmt.Errorf("xdp: AF_PACKET is not supported on %s: %w", runtime.GOOS, errors.ErrUnsupported)

// OpenPacket always fails here, with an errors.ErrUnsupported.
func OpenPacket(string, *PacketConfig) (*Packet, error) { return nil, errNotSupported }

// Name is empty here.
func (p *Packet) Name() string { return "" }

// Addr is nobody's here.
func (p *Packet) Addr() frame.MAC { return frame.MAC{} }

// MTU is 0 here.
func (p *Packet) MTU() int { return 0 }

// String says that there is no such device here.
func (p *Packet) String() string { return errNotSupported.Error() }

// Attach fails here.
func (p *Packet) Attach(*netdev.Arena, func()) error { return errNotSupported }

// FD is -1 here.
func (p *Packet) FD() int { return -1 }

// Receive fails here.
func (p *Packet) Receive([]*netdev.Buffer) (int, error) { return 0, errNotSupported }

// Transmit fails here.
func (p *Packet) Transmit([]*netdev.Buffer) (int, error) { return 0, errNotSupported }

// Dropped is nothing here.
func (p *Packet) Dropped() (in, out uint64) { return 0, 0 }

// Close does nothing here.
func (p *Packet) Close() error { return nil }
