// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"github.com/utipc/utipc/test/bench/load/tcp"
	"github.com/utipc/utipc/test/bench/worker"
)

// Sizes of messages in the tables, in bytes.
const (
	Small = 64
	Long  = 64000
)

// Ends is the same load at both ends.
func Ends(o worker.Open) [2]worker.Open { return [2]worker.Open{o, o} }

// Bare is frames on the device, and no protocol.
func Bare() [2]worker.Open { return Ends(worker.Open{Load: worker.Bare}) }

// TIPC is a node with a socket at each end, which waits in a way: "spin", "sleep" or "adaptive".
func TIPC(wait string) [2]worker.Open { return Ends(worker.Open{Load: worker.TIPC, Wait: wait}) }

// TCP is the kernel's.
func TCP(wait tcp.Wait) [2]worker.Open {
	return Ends(worker.Open{Load: worker.TCP, Wait: string(wait)})
}

// Conns is connections of a network: "tipc", "tipcpacket", or "tcp", which is package net's.
func Conns(network, wait string) [2]worker.Open {
	return Ends(worker.Open{Load: worker.Conns, Socket: network, Wait: wait})
}
