// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"testing"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/flow"
)

// A station is one of the two nodes at the ends of lines: ours, or a kernel, so
// that a test of the two can be a test of two kernels as well.
type station interface {
	addr() stack.NodeAddr
	// knows waits until the station knows a service.
	knows(t *testing.T, s stack.Service)
	// hear starts the receiving end of a stream.
	hear(t *testing.T, at stack.Service, p flow.Plan) hearer
	// speak starts the sending end, on a port of that parity, which chooses
	// among two links.
	speak(t *testing.T, to stack.Service, p flow.Plan, parity int) speaker
	// links tells of the links to the other station, by interface.
	links(t *testing.T) []linkState
	// linksUp counts those that are up, without disturbing the station.
	linksUp() int
	// unplug and plug take and give the carrier of an interface.
	unplug(iface int) error
	plug(iface int) error
	// setTolerance sets that of the link over an interface.
	setTolerance(iface int, d time.Duration) error
}

// A hearer is the receiving end of a stream.
type hearer interface {
	mark(t *testing.T) flow.Mark
	report(t *testing.T) flow.Report // once the stream has ended
}

// A speaker is the sending end of a stream.
type speaker interface {
	stop(t *testing.T) flow.Sent // returns once the other end knows
}

// A linkState is how a link stands, as one of its ends tells.
type linkState struct {
	name          string
	up            bool
	active        bool // used for sending, if up
	tolerance     time.Duration
	sent          int // packets
	retransmitted int
	resets        int // by loss of contact or otherwise, after it was up first
}

var ifaces = []string{"eth0", "eth1"}
