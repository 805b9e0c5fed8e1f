// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package tun

import (
	"errors"
	"net/netip"
)

// A Device is an interface, which there is on Linux alone.
type Device struct{}

// Open fails with errors.ErrUnsupported.
func Open(string, netip.Prefix) (*Device, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (d *Device) Close() error { return nil }
