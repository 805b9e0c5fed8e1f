// SPDX-License-Identifier: Apache-2.0

// Package tun makes the interface that has a node's address of IPv4, for programs that look for interfaces, and the
// network around it, for the kernel to send what is for it nowhere else. It carries nothing.
package tun
