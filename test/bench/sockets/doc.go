// SPDX-License-Identifier: Apache-2.0

// Package sockets is the table of utipc-lab bench sockets: what kinds of sockets cost beside
// each other, beside bare frames and beside TCP.
package sockets
