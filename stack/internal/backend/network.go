// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"net"
	"time"
)

// GroupNetwork is the network that the errors of groups name.
const GroupNetwork = "tipcrdm"

// Connected reports what connections of a network are. Errors: net.UnknownNetworkError.
func Connected(network string) (stream bool, err error) {
	switch network {
	case "tipc":
		return true, nil
	case "tipcpacket":
		return false, nil
	}
	return false, net.UnknownNetworkError(network)
}

func Past(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// MaxIdleCallers is how many sockets of calls are kept for the next ones.
const MaxIdleCallers = 64
