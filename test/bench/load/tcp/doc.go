// SPDX-License-Identifier: Apache-2.0

// Package tcp runs the loads on the kernel's TCP: raw sockets that spin or block, and
// package net. A job makes a connection of its own, with cubic, and TCP_NODELAY where
// nothing else is said.
package tcp

import "github.com/utipc/utipc/test/bench/load/kernel"

// A Wait says how an end waits for data.
type Wait = kernel.Wait

// The ways to wait.
const (
	Spin  = kernel.Spin
	Block = kernel.Block
	GoNet = kernel.GoNet
)
