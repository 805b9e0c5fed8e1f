// SPDX-License-Identifier: Apache-2.0

// Package capi tests libutipc as its programs meet it: built by capi/build, linked by a C compiler,
// loaded by Python. The programs are those of testdata and of examples/c and examples/python; each
// runs over a network in memory, over UDP, and attached to a daemon.
package capi
