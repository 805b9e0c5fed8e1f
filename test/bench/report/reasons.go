// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import "github.com/utipc/utipc/test/bench/station"

// Why theirs is better in a cell, and what would change it. These were found with
// profiles: docs/explanation/performance.md has them.
const (
	whyOffloads = "TSO and GRO move 64 KiB by one passage through the kernel, and over a veth by reference; a TIPC frame ends at the MTU, and each is a passage of its own. " +
		"A larger MTU changes it: see MTU 9000 and 65000"
	whyFragments = "a message longer than the MTU is as many frames, each with a passage through the driver, and is put together before it is read; a larger MTU changes it"
	whyCopies    = "a message is copied into the arena, by the kernel twice, and to its reader, TCP's bytes twice in all; WriteBuffer and ReadBuffer save two, and zero copy of a real network card one"
	whySleep     = "a sleeper polls, receives and sends: a system call more than a blocking TCP socket; Adaptive and Spin do without"
	whyBurners   = "a sleeper has a system call more than a blocking TCP socket, and beside a burner each microsecond counts double: the scheduler halves the core; Adaptive, which sleeps less, is better than either"
	whySlices    = "beside a burner, what takes more processor time than the scheduler gives at once waits for the next turn, and so does the other end"
	whyFrames    = "each frame is a passage through the driver; a veth with AF_XDP costs what TCP's packet costs, and TCP's segment leaves with its answer's acknowledgement"
)

// latencyReason is of round trips.
func latencyReason(p Pair, x station.Exchange) string {
	spins := p.Ours == messagesSpin || p.Ours == streamSpin
	switch {
	case x.Size > mtu && x.Burners && !spins:
		return whyFragments + "; " + whySlices
	case x.Size > mtu && p.Theirs != tcpSpinPlain && p.Theirs != tcpPlain:
		return whyFragments + "; " + whyOffloads
	case x.Size > mtu:
		return whyFragments
	case spins:
		return whyFrames
	case x.Burners:
		return whyBurners
	}
	return whySleep
}

// throughputReason is of what goes one way.
func throughputReason(p Pair, x station.Exchange) string {
	switch {
	case x.Size >= 1000 && p.Theirs != tcpPlain && p.Theirs != tcpSpinPlain:
		return whyOffloads
	case x.Size >= 1000:
		return whyCopies
	}
	return whyFrames
}
