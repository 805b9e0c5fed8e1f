// SPDX-License-Identifier: Apache-2.0

// Package socket is what sockets of package stack give and take: messages, events, reports, and
// errors. Programs find all of it in package stack too, under the same names; it stands here
// because both backends, the node of this process and the daemon's, use it.
//
// An error travels over the daemon's socket whole: see docs/reference/attach.md.
package socket
