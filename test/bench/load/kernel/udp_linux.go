// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// udpPort is that of both ends.
const udpPort = 7300

// longestUDP is the longest message of UDP over IPv4, in bytes; it travels in fragments.
const longestUDP = 65507

// OpenUDP opens an end of UDP between two IPv4 addresses.
func OpenUDP(addrs [2]string, end int, wait Wait) (*Datagrams, error) {
	c := DatagramConfig{Name: "UDP, " + string(wait), End: end, Wait: wait, Family: unix.AF_INET, Longest: longestUDP}
	for i, s := range addrs {
		a, err := netip.ParseAddr(s)
		if err != nil || !a.Is4() {
			return nil, fmt.Errorf("%q is no IPv4 address", s)
		}
		c.Addrs[i] = &unix.SockaddrInet4{Port: udpPort, Addr: a.As4()}
	}
	return OpenDatagrams(c)
}
