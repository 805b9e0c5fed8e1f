// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"net"
	"testing"
)

// The text of an UnsentError says what is known: bytes, packets, or that nothing is.
// Mutation: an unknown number is printed as 0 bytes.
func TestUnsentErrorText(t *testing.T) {
	for want, err := range map[string]*UnsentError{
		"stack: not all bytes are known to be sent: use of closed network connection":                                         {Err: net.ErrClosed},
		"stack: 7 bytes not sent: use of closed network connection":                                                           {Bytes: 7, Err: net.ErrClosed},
		"stack: node closed with 3 packets unacknowledged, 0 bytes of connections not sent: use of closed network connection": {Packets: 3, Err: net.ErrClosed},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
