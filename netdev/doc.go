// SPDX-License-Identifier: Apache-2.0

// Package netdev is the contract between a node and its network devices: Device, the
// interface every driver implements, and Arena and Buffer, the memory that frames are
// received into and sent from.
//
// The drivers are package xdp (AF_XDP and AF_PACKET) and those below stack/carrier (UDP, a
// hub in memory, a fault injector, a tap). Package stack drives them.
package netdev
