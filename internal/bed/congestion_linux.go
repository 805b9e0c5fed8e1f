// SPDX-License-Identifier: Apache-2.0

package bed

import (
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// SetCongestion makes TCP to the network of 256 in which the interface has the address addr
// (see SetAddress) use a congestion control, in the kernel's words; who asks for another by
// a socket option gets that. It is the route's: the default of a namespace is that of the
// machine and, where /proc/sys may not be written, stays so.
func (n *Namespace) SetCongestion(name string, addr netip.Addr, algorithm string) error {
	err := n.Do(func() error {
		ifi, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		const bits = 24
		network := netip.PrefixFrom(addr, bits).Masked().Addr().As4()
		source := addr.As4()
		// The route that came with the address, and nothing of it changed but this.
		route := link{unix.AF_INET, bits, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_KERNEL, unix.RT_SCOPE_LINK, unix.RTN_UNICAST, 0, 0, 0, 0}
		_, err = route.with(unix.RTA_DST, network[:]).with(unix.RTA_PREFSRC, source[:]).withNumber(unix.RTA_OIF, ifi.Index).
			with(unix.RTA_METRICS, link(nil).withText(unix.RTAX_CC_ALGO, algorithm)).
			request(unix.RTM_NEWROUTE, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s as congestion control of %s: %w", algorithm, name, err)
	}
	return nil
}
