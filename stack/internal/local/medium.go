// SPDX-License-Identifier: Apache-2.0

package local

import "github.com/utipc/utipc/stack/engine"

// A Device whose network is no Ethernet also has the methods of a medium, which
// tell the engine what is behind the station addresses that the device makes up
// (engine.Medium). The wrapper of a device has Unwrap instead, which returns the
// device within.

// mediumOf returns a device's medium, nil for an Ethernet.
func mediumOf(d any) engine.Medium {
	m, _ := as[engine.Medium](d)
	return m
}
