// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"fmt"
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
	return false, UnknownNetwork(network, "tipc or tipcpacket")
}

// UnknownNetwork is the error of a call that is for other networks than this one; want names
// them. It unwraps to net.UnknownNetworkError.
func UnknownNetwork(network, want string) error {
	why := "want " + want
	switch network {
	case "tipc", "tipcpacket":
		why = "for connections; use Listen or Dial"
	case "tipcrdm", "tipcgram":
		why = "for messages without a connection; use ListenPacket or DialPacket"
	}
	return fmt.Errorf("%w: %s", net.UnknownNetworkError(network), why)
}

func Past(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }

// MaxIdleCallers is how many sockets of calls are kept for the next ones.
const MaxIdleCallers = 64
