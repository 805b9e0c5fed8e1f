// SPDX-License-Identifier: Apache-2.0

// Package systemd tells a service manager how a service stands, in the manner of
// sd_notify(3): datagrams of NAME=VALUE lines on the UNIX socket that the environment
// variable NOTIFY_SOCKET names. Without the variable, as where no systemd runs, nothing
// is told and nothing fails.
//
// It is little more than a datagram, which the standard library sends; a module for it
// (coreos/go-systemd) would bring nothing else that is used here.
package systemd
