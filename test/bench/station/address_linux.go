// SPDX-License-Identifier: Apache-2.0

package station

import (
	"fmt"
	"net/netip"
)

// congestion is TCP's congestion control, also for programs that ask for none: the kernel's
// default differs from host to host.
const congestion = "cubic"

// addresses gives both ends of the cable their IPv4 address where IP runs on it, and takes
// their offloads away if the variant is to go without.
func (st *Station) addresses() error {
	o := st.v.Ends[0]
	if !o.IP() && st.v.Program == nil {
		return nil
	}
	if st.v.OneHost {
		return st.bed.Namespace(0).SetUp("lo", true) // it has its address by itself
	}
	for end := range st.ends {
		name := st.bed.Name(end)
		if !st.v.Offloads {
			if err := st.bed.Do(end, func() error { return withoutOffloads(name) }); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		n, addr := st.bed.Namespace(end), netip.MustParseAddr(addresses[end])
		if err := n.SetAddress(name, addr); err != nil {
			return err
		}
		if err := n.SetCongestion(name, addr, congestion); err != nil {
			return err
		}
	}
	return nil
}
