// SPDX-License-Identifier: Apache-2.0

// Package tcp tests what TCP programs, unmodified, have of the daemon: programs in C and others' software, on one
// node and between two.
package tcp
