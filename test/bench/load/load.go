// SPDX-License-Identifier: Apache-2.0

// Package load says what a measurement is: a Load is opened once in a worker
// process and runs a Job in every round.
//
//	     parent                    worker, end 0        worker, end 1
//	round trips   both run         Ping ──────────────► Pong
//	one way       both run         Send ──────────────► Receive
//
// The ends of one variant are two processes, so a Job says all that one end needs.
package load

import (
	"context"
	"time"
)

// Tolerance is that of links between nodes that are measured: beside others' work one may get no
// processor for seconds, and is not dead.
const Tolerance = 20 * time.Second

// A Kind says which end of which exchange a Job is.
type Kind string

const (
	Ping    Kind = "ping"    // asks, and measures round trips for Job.For
	Pong    Kind = "pong"    // answers until it is stopped
	Send    Kind = "send"    // sends until it is stopped
	Receive Kind = "receive" // counts what arrives for Job.For, and ends by itself
)

// A Job is one measurement at one end.
type Job struct {
	Kind  Kind          `json:"kind"`
	Round uint32        `json:"round"` // the job's number; what arrives of another is not counted
	Size  int           `json:"size"`  // bytes of a message
	Per   int           `json:"per,omitempty"`
	For   time.Duration `json:"for,omitempty"`
	// Offered is how many messages a sender offers in a second, whether they can
	// be taken or not; 0: each when the one before was taken.
	Offered float64 `json:"offered,omitempty"`
	// Timed makes a sender write into each message when it was due, by the machine's clock,
	// and a receiver measure how late it came: its P50, P99 and Quantiles.
	Timed bool `json:"timed,omitempty"`
	// Profile is a file for a CPU profile of this job; empty: none.
	Profile string `json:"profile,omitempty"`
}

// An Info is what the other end must know of a Load that was opened, and what is
// printed of it.
type Info struct {
	MAC    string `json:"mac,omitempty"`
	Socket string `json:"socket,omitempty"` // a TIPC socket's address
	Driver string `json:"driver,omitempty"`
	Reason string `json:"reason,omitempty"` // for the driver
	// Settings says what a library is, which version, and how it was set.
	Settings string `json:"settings,omitempty"`
}

// A Result is what one end has measured. What does not apply is 0.
type Result struct {
	Count   uint64        `json:"count"`   // round trips, or messages received or sent
	Bytes   uint64        `json:"bytes"`   // of messages
	Elapsed time.Duration `json:"elapsed"` // in which they were counted
	P50     time.Duration `json:"p50,omitempty"`
	P99     time.Duration `json:"p99,omitempty"`
	// Quantiles are of round trips, or of Job.Timed messages: one for each of Fractions.
	Quantiles []time.Duration `json:"quantiles,omitempty"`
	// CPU is the processor time, user and system, that the worker's process took from the
	// beginning to the end of the job: for All messages.
	CPU      time.Duration `json:"cpu,omitempty"`
	Lost     uint64        `json:"lost,omitempty"`     // round trips without an answer; of All datagrams, those that did not come
	Offered  uint64        `json:"offered,omitempty"`  // messages, of a sender with Job.Offered
	Messages uint64        `json:"messages,omitempty"` // sent and received while allocations were counted
	Mallocs  uint64        `json:"mallocs,omitempty"`  // allocations meanwhile
	Resets   uint64        `json:"resets,omitempty"`   // of links
	Frames   uint64        `json:"frames,omitempty"`   // sent by the node
	Dropped  uint64        `json:"dropped,omitempty"`  // frames, by the device, both ways
	Refused  string        `json:"refused,omitempty"`  // messages the node dropped, by reason
	Again    uint64        `json:"again,omitempty"`    // packets the link has sent again
	MTU      int           `json:"mtu,omitempty"`      // of the link or device, bytes
	All      uint64        `json:"all,omitempty"`      // as Count, warming up included
	Sealed   uint64        `json:"sealed,omitempty"`   // frames, both ways, of All
	AES      float64       `json:"aes,omitempty"`      // ns that AES alone takes of Sealed
}

// Rate is Count a second.
func (r Result) Rate() float64 { return perSecond(r.Count, r.Elapsed) }

// BitRate is Bytes in bits a second.
func (r Result) BitRate() float64 { return 8 * perSecond(r.Bytes, r.Elapsed) }

func perSecond(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// A Load is one end of a variant, open. Run is called for one job at a time; when
// ctx is done it returns soon, with what it has and without an error.
type Load interface {
	Info() Info
	Run(ctx context.Context, j Job) (Result, error)
	Close() error
}
