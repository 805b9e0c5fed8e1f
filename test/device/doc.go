// SPDX-License-Identifier: Apache-2.0

// Package device is the law a netdev.Device is held to, as a test suite: every
// sentence of the contract in stack/device.go, tried on two stations of one
// segment. A carrier passes it by a test of a few lines:
//
//	func TestHub(t *testing.T) {
//		device.Run(t, func(t *testing.T) (a, b netdev.Device) { … })
//	}
//
// The suite plays the engine: it owns an arena for each station, sleeps on the
// descriptor and on wake as a node does, and looks at the holds of each Buffer.
// It allows what real networks do, padding and loss under overload, and asks of
// no carrier how it works.
//
// What is not here: speed, faults of the network, and what is one carrier's own,
// such as which error refuses a frame.
package device
