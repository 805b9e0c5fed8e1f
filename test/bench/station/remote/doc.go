// SPDX-License-Identifier: Apache-2.0

// Package remote has workers run on another host, for benchmarks between two: over a TCP
// connection for each worker.
//
//	this host                          the other, utipc-lab bench host
//	Dial ── Hello, a line of JSON ───► Serve: knows the secret?
//	     ◄─ Welcome, a line of JSON ── which interface, address, machine
//	     ◄─ requests, responses ─────► a worker (package worker), if the Hello asks for one
//
// Who knows the secret can have the other host load its processors, and send what it likes
// by the one interface that Serve was given; nothing else: requests name no file, no other
// interface, and no load but those that run between two hosts.
package remote

import (
	"errors"
	"time"
)

// A Hello is the first line of a connection.
type Hello struct {
	Secret string `json:"secret"`
	Work   bool   `json:"work,omitempty"` // a worker is to be started; else the Welcome is all
	Core   int    `json:"core,omitempty"` // which of the host's cores, from 0
	Nice   int    `json:"nice,omitempty"`
}

// A Welcome answers it.
type Welcome struct {
	Iface  string `json:"iface,omitempty"`
	Addr   string `json:"addr,omitempty"` // its IPv4 address
	MTU    int    `json:"mtu,omitempty"`  // its, in bytes
	CPU    string `json:"cpu,omitempty"`
	Cores  int    `json:"cores,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Error  string `json:"error,omitempty"`
}

// ErrRefused is what Dial returns when the other host refuses.
var ErrRefused = errors.New("the other host refuses")

const (
	greeting = 10 * time.Second // is how long Hello and Welcome may take
	longest  = 1 << 20          // bytes of a line
	most     = 64               // workers at a time
)
